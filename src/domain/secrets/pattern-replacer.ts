import type { PatternSearch } from './redaction-search.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Replaces bytes in one stream. `push` returns the bytes that are ready, which may be the same buffer or a part of it.
 * A possible start of a match is held back until the next bytes decide. `end` returns the remaining bytes.
 */
export interface Redactor {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

/**
 * Removes every byte of any occurrence of any form; overlapping occurrences become one mark. Positions count from the
 * start of the stream. Held bytes are not stored: the state of the search determines them.
 */
export class PatternReplacer implements Redactor {
  readonly #search: PatternSearch;
  /** By kind of pattern. Of those that overlap, kind 0 decides, then the highest. */
  readonly #marks: readonly Buffer[];
  #state = 0;
  /** Bytes taken in, and of these the bytes answered (or replaced). */
  #taken = 0;
  #answered = 0;
  /** A mark was answered for everything up to here. */
  #markedTo = 0;
  /** Occurrences that are not answered yet, merged, in order. */
  #starts: number[] = [];
  #ends: number[] = [];
  #kinds: number[] = [];

  constructor(search: PatternSearch, marks: readonly Buffer[]) {
    this.#search = search;
    this.#marks = marks;
  }

  push(chunk: Buffer): Buffer {
    const held = this.#search.pending(this.#state);
    const from = this.#taken;
    this.#state = this.#search.scan(chunk, this.#state, (end, length, kind) =>
      this.#add(from + end - length, from + end, kind),
    );
    this.#taken += chunk.length;
    return this.#answer(held, chunk, this.#taken - this.#search.pending(this.#state).length);
  }

  end(): Buffer {
    const held = this.#search.pending(this.#state);
    this.#state = 0;
    return this.#answer(held, NOTHING, this.#taken);
  }

  #add(from: number, end: number, of: number): void {
    let start = from;
    let kind = of;
    while (this.#ends.length > 0 && (this.#ends.at(-1) ?? 0) > start) {
      start = Math.min(start, this.#starts.pop() ?? start);
      this.#ends.pop();
      const other = this.#kinds.pop() ?? kind;
      kind = kind === 0 || other === 0 ? 0 : Math.max(kind, other);
    }
    if (this.#ends.length === 0 && this.#markedTo > start) {
      this.#markedTo = end;
      return;
    }
    this.#starts.push(start);
    this.#ends.push(end);
    this.#kinds.push(kind);
  }

  /** The bytes from #answered to `until`; `held` and then `chunk` are the bytes from #answered to #taken. */
  #answer(held: Buffer, chunk: Buffer, until: number): Buffer {
    const base = this.#answered;
    this.#answered = until;
    if (held.length === 0 && this.#ends.length === 0 && this.#markedTo <= base) {
      return until - base === chunk.length ? chunk : chunk.subarray(0, until - base);
    }
    const parts: Buffer[] = [];
    const keep = (start: number, end: number): void => {
      const [a, b] = [start - base, end - base];
      if (a < held.length) parts.push(held.subarray(a, Math.min(b, held.length)));
      if (b > held.length) parts.push(chunk.subarray(Math.max(0, a - held.length), b - held.length));
    };
    let done = Math.max(base, Math.min(this.#markedTo, until));
    let used = 0;
    for (const [i, start] of this.#starts.entries()) {
      if (start >= until) break;
      if (start > done) keep(done, start);
      this.#markedTo = this.#ends[i] ?? start;
      parts.push(this.#marks[this.#kinds[i] ?? 0] ?? NOTHING);
      done = Math.min(this.#markedTo, until);
      used += 1;
    }
    if (until > done) keep(done, until);
    this.#starts.splice(0, used);
    this.#ends.splice(0, used);
    this.#kinds.splice(0, used);
    return parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts);
  }
}
