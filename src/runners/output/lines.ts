/** A line longer than this is split into several events. Without its `\n`. */
export const LINE_LIMIT_BYTES = 64 * 1024;

const NEWLINE = 10;
const FIRST_CARRY_BYTES = 1024;

/**
 * What the splitter hands on: with `ended`, one or more whole lines, each with its `\n`; without, one piece of a line
 * that is over the limit, or the unfinished last line. Valid only until the call returns: the taker copies.
 */
type TakeLines = (data: Buffer, ended: boolean) => void;

/**
 * Splits a stream of bytes into lines of at most LINE_LIMIT_BYTES. A line over the limit is split at it, a little
 * before where a UTF-8 character would be cut. No work per line: lines that came together are handed on together.
 * `\r` is a byte like others. Keeps at most one unfinished line.
 */
export class LineSplitter {
  readonly #take: TakeLines;
  #carry = Buffer.alloc(0);
  #carried = 0;

  constructor(take: TakeLines) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#carried > 0) at = this.#finishCarried(chunk, at);
    while (at < chunk.length) {
      const next = this.#takeFrom(chunk, at);
      if (next === at) break;
      at = next;
    }
    if (at < chunk.length) this.#keep(chunk, at, chunk.length);
  }

  /** The line that has not ended, as far as it came. Valid only until the next call. */
  get unfinished(): Buffer {
    return this.#carry.subarray(0, this.#carried);
  }

  /** The stream is at its end: what is left is a last line without an end. */
  end(): void {
    if (this.#carried > 0) this.#take(this.#carry.subarray(0, this.#carried), false);
    this.#carried = 0;
    this.#carry = Buffer.alloc(0);
  }

  /** Takes lines, or a piece of one, that are wholly in `chunk` from `at` on. The same `at`: not enough for either. */
  #takeFrom(chunk: Buffer, at: number): number {
    // Within this window no line can be over the limit, so every line that ends in it is passed on unchanged.
    const window = Math.min(chunk.length, at + LINE_LIMIT_BYTES + 1);
    const end = chunk.lastIndexOf(NEWLINE, window - 1) + 1;
    if (end > at) {
      this.#take(chunk.subarray(at, end), true);
      return end;
    }
    if (window - at <= LINE_LIMIT_BYTES) return at;
    const cut = at + pieceLength(chunk.subarray(at, at + LINE_LIMIT_BYTES));
    this.#take(chunk.subarray(at, cut), false);
    return cut;
  }

  /** Adds to the carried line what `chunk` has of it, and hands it on when it ends or is over the limit. */
  #finishCarried(chunk: Buffer, at: number): number {
    const room = LINE_LIMIT_BYTES - this.#carried;
    const newline = chunk.subarray(at, at + room + 1).indexOf(NEWLINE);
    if (newline >= 0) {
      this.#keep(chunk, at, at + newline + 1);
      this.#take(this.#carry.subarray(0, this.#carried), true);
      this.#carried = 0;
      return at + newline + 1;
    }
    const end = Math.min(chunk.length, at + room);
    this.#keep(chunk, at, end);
    // A line of exactly the limit may still end with the next byte; only one more byte makes it too long.
    if (end === chunk.length) return end;
    const length = pieceLength(this.#carry.subarray(0, this.#carried));
    this.#take(this.#carry.subarray(0, length), false);
    this.#carry.copy(this.#carry, 0, length, this.#carried);
    this.#carried -= length;
    return end;
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    const length = this.#carried + end - start;
    if (length > this.#carry.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_CARRY_BYTES, Math.min(2 * length, LINE_LIMIT_BYTES + 1)));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    chunk.copy(this.#carry, this.#carried, start, end);
    this.#carried = length;
  }
}

/** How much of `full` is a piece: all of it, less the bytes of a character that has only begun at its end. */
export function pieceLength(full: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = full[full.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return back < characterLength(byte) ? full.length - back : full.length;
  }
  return full.length;
}

/** By its first byte; a byte that begins no character of UTF-8 is one character. */
function characterLength(first: number): number {
  if (first >= 0xf0 && first <= 0xf4) return 4;
  if (first >= 0xe0) return first <= 0xef ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
}
