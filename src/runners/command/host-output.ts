import { CUT_MARK } from '../../domain/commands/hosts.ts';
import type { OutputSift } from '../runner.ts';

const NEWLINE = 10;

/** The output of the command on one host: recorded with the name of the host before each line, and kept as it came. */
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
  readonly #parts: Buffer[] = [];
  #size = 0;
  #isCut = false;
  #atLineStart = true;

  constructor(host: string, bytesMax: number) {
    this.#prefix = Buffer.from(`${host}: `);
    this.#bytesMax = bytesMax;
  }

  push(chunk: Buffer): Buffer {
    this.#keep(chunk);
    const parts: Buffer[] = [];
    for (let at = 0; at < chunk.length;) {
      if (this.#atLineStart) parts.push(this.#prefix);
      const end = chunk.indexOf(NEWLINE, at);
      const next = end < 0 ? chunk.length : end + 1;
      parts.push(chunk.subarray(at, next));
      this.#atLineStart = end >= 0;
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
    // The memory of the chunk is taken back.
    const part = Buffer.from(chunk.subarray(0, room));
    this.#size += part.length;
    this.#parts.push(part);
  }

  /** NUL has no place in the texts of a database. */
  get text(): string {
    const text = Buffer.concat(this.#parts).toString('utf8').replaceAll('\0', '\u{FFFD}');
    return this.#isCut ? `${text}\n${CUT_MARK}` : text;
  }
}
