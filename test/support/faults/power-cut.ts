/**
 * What a disk holds after its power was cut: the calls of a program, as strace wrote them down, are played again up to
 * some point; what was synced by then is there, and of the rest some writes, some of them in part.
 */
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What strace is asked for. Only the thread that starts is traced, which is the one that SQLite works in. */
export const TRACED = [
  '-qq',
  '-y',
  '-xx',
  '-s',
  '1000000',
  '-e',
  'trace=pwrite64,write,ftruncate,fsync,fdatasync,unlink',
];

/** One call that succeeded. `file` is a name without its folder. */
export type Call =
  | { readonly to: 'write'; readonly file: string; readonly offset: number; readonly data: Buffer }
  | { readonly to: 'truncate'; readonly file: string; readonly size: number }
  | { readonly to: 'sync'; readonly file: string }
  | { readonly to: 'remove'; readonly file: string }
  /** On standard output: an acknowledgement. */
  | { readonly to: 'say'; readonly text: string };

const FILE_CALL = /^(pwrite64|write|ftruncate|fsync|fdatasync)\((\d+)<([^>]*)>(?:, (.*))?\) += (\d+)$/;
const UNLINK = /^unlink\("([^"]*)"\) += 0$/;
const CONTENT = /^"([^"]*)", (\d+)(?:, (\d+))?$/;
const STDOUT = '1';

/** With -xx every byte of a text is `\x` and two digits. */
function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex');
}

/**
 * Throws for a write that went through in part, or whose content the trace has cut: what is played would be made up.
 */
function callOf(line: string): Call | undefined {
  const removed = UNLINK.exec(line);
  if (removed !== null) return { to: 'remove', file: basename(bytesOf(removed[1] ?? '').toString()) };
  const [, name, descriptor, path = '', rest = '', result] = FILE_CALL.exec(line) ?? [];
  if (name === undefined) return undefined;
  const file = basename(bytesOf(path).toString());
  if (name === 'fsync' || name === 'fdatasync') return { to: 'sync', file };
  if (name === 'ftruncate') return { to: 'truncate', file, size: Number(rest) };
  const [, content = '', length, offset] = CONTENT.exec(rest) ?? [];
  const data = bytesOf(content);
  if (String(data.length) !== length || length !== result)
    throw new Error(`a write of ${file} was not whole: ${line.slice(-60)}`);
  if (name === 'pwrite64') return { to: 'write', file, offset: Number(offset), data };
  return descriptor === STDOUT ? { to: 'say', text: data.toString() } : undefined;
}

/** The calls on these files, and what was said, in their order. */
export async function readTrace(path: string, files: readonly string[]): Promise<Call[]> {
  const calls: Call[] = [];
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    const call = callOf(line);
    if (call !== undefined && (call.to === 'say' || files.includes(call.file))) calls.push(call);
  }
  return calls;
}

type Change = Exclude<Call, { to: 'say' } | { to: 'sync' }>;

/** A disk writes sectors of this size as a whole or not at all. */
const SECTOR = 512;

/** Files of which some changes are synced and others may or may not have reached the disk. */
export class Disk {
  readonly #synced = new Map<string, Buffer>();
  readonly #unsynced = new Map<string, Change[]>();
  #said = '';

  constructor(files: ReadonlyMap<string, Buffer>) {
    for (const [name, content] of files) this.#synced.set(name, content);
  }

  /** All that was acknowledged up to now. */
  get said(): string {
    return this.#said;
  }

  play(call: Call): void {
    if (call.to === 'say') this.#said += call.text;
    else if (call.to === 'sync') {
      const content = this.#unsynced
        .get(call.file)
        ?.reduce<Buffer | null>(changed, this.#synced.get(call.file) ?? null);
      this.#unsynced.delete(call.file);
      if (content === null) this.#synced.delete(call.file);
      else if (content !== undefined) this.#synced.set(call.file, content);
    } else this.#unsynced.set(call.file, [...(this.#unsynced.get(call.file) ?? []), call]);
  }

  /**
   * Writes into `dir` what is found after a cut at this moment: about half of the unsynced writes, and one in four of
   * these with only some of its sectors. `chance` answers numbers from 0 to 1.
   */
  cut(dir: string, chance: () => number): void {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const file of new Set([...this.#synced.keys(), ...this.#unsynced.keys()])) {
      const before = this.#synced.get(file) ?? null;
      const kept = (this.#unsynced.get(file) ?? [])
        .filter(() => chance() < 0.5)
        .flatMap((change) => torn(change, chance));
      // Not into the synced content: the disk continues from there to the next cut.
      const content = kept.reduce<Buffer | null>(
        changed,
        before === null || kept.length === 0 ? before : Buffer.from(before),
      );
      if (content !== null) writeFileSync(join(dir, file), content, { mode: 0o600 });
    }
  }
}

function torn(change: Change, chance: () => number): Change[] {
  if (change.to !== 'write' || chance() >= 0.25) return [change];
  const { file, offset, data } = change;
  const starts = Array.from({ length: Math.ceil(data.length / SECTOR) }, (_, n) => n * SECTOR);
  return starts
    .filter(() => chance() < 0.5)
    .map((at) => ({ to: 'write', file, offset: offset + at, data: data.subarray(at, at + SECTOR) }));
}

/** Null is a file that is not there. Changes `content` where there is room. */
function changed(content: Buffer | null, change: Change): Buffer | null {
  if (change.to === 'remove') return null;
  const size =
    change.to === 'truncate' ? change.size : Math.max(content?.length ?? 0, change.offset + change.data.length);
  const grown =
    content !== null && content.length >= size
      ? content.subarray(0, size)
      : Buffer.concat([content ?? Buffer.alloc(0)], size);
  if (change.to === 'write') change.data.copy(grown, change.offset);
  return grown;
}
