import type { State } from '../../domain/workspaces/workspace.ts';
import type { OutputSift } from '../runner.ts';
import { readStateBytes } from './state/state-reader.ts';
import { STATE_MAX_BYTES } from '../../domain/workspaces/state.ts';

/** How terraform and tofu begin a state when they print it, at the start of a line. */
const HEAD = Buffer.from('{\n  "version": 4,\n  "terraform_version": ');
const FOOT = Buffer.from('\n}\n');
const NEWLINE = 10;
/** Terraform prints one. More are kept because what a program prints can look like one. */
const KEPT_MAX = 4;
const NOTHING = Buffer.alloc(0);

/**
 * Where terraform can write its state nowhere, not even beside the root, as on a full disk, it prints it: the last
 * place that knows what was made. It is taken from there, and kept out of the record, because it has every value in
 * clear.
 */
export class PrintedState implements OutputSift {
  /** The end of what was pushed, where it may be the beginning of a state. */
  #held: Buffer = NOTHING;
  #parts: Buffer[] | null = null;
  #size = 0;
  #atLineStart = true;
  /** The newest last. Together they have no more bytes than one may have. */
  #printed: Buffer[] = [];

  /** The last whole state that was printed. Not while output is read: what a program prints may be long (T97). */
  async state(): Promise<State | null> {
    for (const bytes of this.#printed.toReversed()) {
      const state = await readStateBytes(bytes);
      if (state !== null) return state;
    }
    return null;
  }

  push(chunk: Buffer): Buffer {
    return this.#parts === null ? this.#search(chunk) : this.#collect(chunk);
  }

  /** What was only a beginning is output like any other. Of a state that breaks off nothing is shown. */
  end(): Buffer {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  #search(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (let at = bytes.indexOf(HEAD); at >= 0; at = bytes.indexOf(HEAD, at + 1)) {
      if (!this.#startsLine(bytes, at)) continue;
      this.#parts = [];
      this.#size = 0;
      this.#held = NOTHING;
      return joined(bytes.subarray(0, at), this.#collect(bytes.subarray(at)));
    }
    const from = this.#beginningIn(bytes);
    // Copied: the caller reuses the memory of its chunk.
    this.#held = Buffer.from(bytes.subarray(from));
    const shown = bytes.subarray(0, from);
    if (shown.length > 0) this.#atLineStart = shown.at(-1) === NEWLINE;
    return shown;
  }

  #startsLine(bytes: Buffer, at: number): boolean {
    return at === 0 ? this.#atLineStart : bytes[at - 1] === NEWLINE;
  }

  /** Where the end of `bytes` may be the beginning of a state; their length where it can't. */
  #beginningIn(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - HEAD.length + 1); at < bytes.length; at += 1) {
      if (this.#startsLine(bytes, at) && HEAD.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return at;
    }
    return bytes.length;
  }

  #collect(chunk: Buffer): Buffer {
    const parts = this.#parts ?? [];
    const last = parts.at(-1) ?? NOTHING;
    // The foot may lie across two chunks.
    const seam = last.subarray(Math.max(0, last.length - FOOT.length + 1));
    const at = Buffer.concat([seam, chunk]).indexOf(FOOT);
    const taken = at < 0 ? chunk : chunk.subarray(0, at + FOOT.length - seam.length);
    this.#size += taken.length;
    if (this.#size <= STATE_MAX_BYTES)
      parts.push(Buffer.from(taken.length < FOOT.length ? joined(parts.pop() ?? NOTHING, taken) : taken));
    if (at < 0) return NOTHING;
    this.#parts = null;
    this.#atLineStart = true;
    if (this.#size <= STATE_MAX_BYTES) this.#keep(Buffer.concat(parts));
    return this.#search(chunk.subarray(taken.length));
  }

  #keep(bytes: Buffer): void {
    this.#printed = [...this.#printed, bytes].slice(-KEPT_MAX);
    while (sizeOf(this.#printed) > STATE_MAX_BYTES) this.#printed.shift();
  }
}

function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function joined(a: Buffer, b: Buffer): Buffer {
  if (a.length === 0) return b;
  return b.length === 0 ? a : Buffer.concat([a, b]);
}
