import { CUT_MARK } from '../../domain/commands/hosts.ts';
import type { OutputSift } from '../runner.ts';

const NEWLINE = 10;
const RETURN = 13;

/**
 * The output of the command on one host: recorded with the name of the host before each line, and kept as it came. A
 * reader of the log may be shown only what follows the last carriage return of a line, so the name is repeated there:
 * no output looks like that of another host.
 */
export class HostOutput {
  readonly sifts: { readonly stdout: OutputSift; readonly stderr: OutputSift };
  readonly #kept: { readonly stdout: KeptStream; readonly stderr: KeptStream };

  constructor(host: string, bytesMax: number) {
    this.#kept = { stdout: new KeptStream(host, bytesMax), stderr: new KeptStream(host, bytesMax) };
    this.sifts = this.#kept;
  }

  get stdout(): string {
    return this.#kept.stdout.text;
  }

  get stderr(): string {
    return this.#kept.stderr.text;
  }
}

class KeptStream implements OutputSift {
  readonly #prefix: Buffer;
  readonly #bytesMax: number;
  /** Grows: one object for each chunk would take 119 MB where a host sends 1 MiB byte by byte. */
  #kept = Buffer.alloc(0);
  #size = 0;
  #isCut = false;
  /** The last byte; a line begins after the first two. */
  #last: 'newline' | 'return' | 'other' = 'newline';

  constructor(host: string, bytesMax: number) {
    this.#prefix = Buffer.from(`${host}: `);
    this.#bytesMax = bytesMax;
  }

  push(chunk: Buffer): Buffer {
    this.#keep(chunk);
    const parts: Buffer[] = [];
    for (let at = 0; at < chunk.length;) {
      const first = chunk[at];
      // The two ends of a line that belong together, and carriage returns that follow each other, have no text between.
      const isEnd = first === NEWLINE || first === RETURN;
      if (this.#last === 'newline' || (this.#last === 'return' && !isEnd)) parts.push(this.#prefix);
      const next = endOfPart(chunk, at);
      parts.push(chunk.subarray(at, next));
      const last = chunk[next - 1];
      this.#last = last === NEWLINE ? 'newline' : last === RETURN ? 'return' : 'other';
      at = next;
    }
    return Buffer.concat(parts);
  }

  end(): Buffer {
    return Buffer.alloc(0);
  }

  #keep(chunk: Buffer): void {
    const room = this.#bytesMax - this.#size;
    if (chunk.length > room) this.#isCut = true;
    if (room <= 0) return;
    const size = this.#size + Math.min(chunk.length, room);
    if (size > this.#kept.length) {
      const grown = Buffer.alloc(Math.min(this.#bytesMax, Math.max(size, 2 * this.#kept.length)));
      this.#kept.copy(grown, 0, 0, this.#size);
      this.#kept = grown;
    }
    // The memory of the chunk is taken back.
    chunk.copy(this.#kept, this.#size, 0, room);
    this.#size = size;
  }

  /** NUL has no place in the texts of a database. */
  get text(): string {
    const text = this.#kept.toString('utf8', 0, this.#size).replaceAll('\0', '\u{FFFD}');
    return this.#isCut ? `${text}\n${CUT_MARK}` : text;
  }
}

/** Behind the next newline or carriage return. One look at each byte, whatever a host prints. */
function endOfPart(chunk: Buffer, from: number): number {
  let at = from;
  while (at < chunk.length && chunk[at] !== NEWLINE && chunk[at] !== RETURN) at += 1;
  return Math.min(at + 1, chunk.length);
}
