import {
  type HexWindows,
  KINDS,
  LOW_BITS,
  OTHER,
  RUN_DIGITS,
  SEPARATOR,
  SMALL_X,
  WINDOW_DIGITS,
  ZERO,
} from './hex-windows.ts';
import type { Redactor } from './pattern-replacer.ts';

/**
 * Finds secret values in hex digits with any grouping: `aa:bb:cc`, `AA-BB`, `aabb ccdd`, `0xaa, 0xbb`, `\xaa`, and the
 * lines of xxd, od and hexdump. Separators between digits are skipped. Any 6 consecutive bytes of a value match, so it
 * is found in each line of a dump that holds 6 of its bytes. Plain text costs 0.6 ns a byte, digits alone 2.5 ns.
 */

/** From one window to the next of the same value: 2 digits, or 4 where a tool prints words. */
const STEP_MAX = 4;
/** Separators between two digits: `, 0x` has 3 beside its zero, which is not a digit of the value. */
const GAP_MAX = 4;
/**
 * A dump repeats the bytes of a line as text after two spaces. When a value was found in the digits, that text is
 * replaced to the end of the line, up to this length: a line of xxd holds 256 bytes at most.
 */
const TEXT_COLUMN_BYTES_MAX = 1_024;

const NOTHING: Buffer = Buffer.alloc(0);
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** Replaces the digits that windows cover in one stream. Holds back at most 11 digits with their separators. */
export class GroupedHexReplacer implements Redactor {
  readonly #windows: HexWindows;
  readonly #mark: Buffer;
  /** The last bytes that were not answered yet: they may be the start of a window. */
  #held: Buffer = NOTHING;
  /** Position in the stream of the first byte that is held, or of the next one. */
  #base = 0;
  /** Everything before this was answered or replaced. */
  #doneTo = 0;
  /** A value was found in the digits and separators that are being read. */
  #found = false;
  /** Bytes of the text column that may still be replaced, 0 outside of one. */
  #column = 0;
  /** The last byte before the data at hand. */
  #last = NEWLINE;
  /** What is ready of the data at hand. */
  #parts: Buffer[] = [];

  constructor(windows: HexWindows, mark: Buffer) {
    this.#windows = windows;
    this.#mark = mark;
  }

  push(chunk: Buffer): Buffer {
    const held = this.#held.length;
    const data = held > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#parts = [];
    let holdFrom = data.length;
    for (let at = 0; at < data.length;) {
      if (this.#column > 0) at = this.#skipColumn(data, at);
      else {
        const start = this.#found || (held > 0 && at === 0) ? at : nextRun(data, at, this.#windows.shifts);
        const end = this.#read(data, start, held);
        // Negative: the run continues after the data, and its last part may be the start of a window.
        if (end < 0) holdFrom = -end - 1;
        at = end < 0 ? data.length : end;
      }
    }
    this.#last = holdFrom < data.length ? NEWLINE : (data.at(-1) ?? this.#last);
    return this.#answer(data, holdFrom);
  }

  end(): Buffer {
    const remaining = this.#held.subarray(Math.max(0, this.#doneTo - this.#base));
    this.#held = NOTHING;
    return remaining;
  }

  /** Reads up to and including the first byte that is no digit or separator. Fast, because its state is local. */
  #read(data: Buffer, from: number, held: number): number {
    const low = this.#windows.low;
    let window = 0;
    let before = 0;
    let digits = 0;
    let gap = 0;
    let gapBefore = 0;
    let firstHit = 0;
    let lastHit = -RUN_DIGITS;
    for (let at = from; at < data.length; at += 1) {
      const byte = data[at] ?? 0;
      const kind = KINDS[byte] ?? OTHER;
      if (kind < SEPARATOR) {
        if (gap > GAP_MAX) {
          digits = 0;
          lastHit = -RUN_DIGITS;
        }
        before = window;
        window = (window << 4) | kind;
        gapBefore = gap;
        gap = 0;
        digits += 1;
        if (digits < WINDOW_DIGITS || low[window & LOW_BITS] === 0 || !this.#windows.has(window)) continue;
        if (digits - lastHit > STEP_MAX) firstHit = digits;
        lastHit = digits;
        if (digits - firstHit < RUN_DIGITS - WINDOW_DIGITS) continue;
        this.#found = true;
        this.#replace(data, placeOf(data, at, RUN_DIGITS), at + 1);
      } else if (kind === OTHER) {
        this.#found = false;
        return at + 1;
      } else {
        // The 0 of 0xaa is not a digit of the value.
        if (byte === SMALL_X && gap === 0 && digits > 0 && data[at - 1] === ZERO) {
          window = before;
          digits -= 1;
          gap = gapBefore + 1;
        }
        gap += 1;
        // The held bytes were read before: a gap in them is before the place where the value was found.
        if (this.#found && byte === SPACE && at >= held && (at === 0 ? this.#last : data[at - 1]) === SPACE) {
          this.#beginColumn(data, at + 1);
          return at + 1;
        }
      }
    }
    const end = data.length - 1;
    const start = gap > GAP_MAX ? data.length : this.#startOfPart(data, end, digits);
    // If an x follows, the last 0 is not a digit.
    const isZero = digits > 0 && gap === 0 && data[end] === ZERO;
    return -1 - (isZero ? Math.min(start, this.#startOfPart(data, end - 1, digits - 1)) : start);
  }

  /** The offset of the longest part of the last digits that may be the start of a value; else the end of the data. */
  #startOfPart(data: Buffer, last: number, digits: number): number {
    for (let count = Math.min(digits, RUN_DIGITS - 1); count > 0; count -= 1) {
      const start = placeOf(data, last, count);
      const known = Math.min(count, WINDOW_DIGITS);
      if (this.#windows.beginsWith(digitsFrom(data, start, known), known)) return start;
    }
    return data.length;
  }

  #beginColumn(data: Buffer, at: number): void {
    this.#found = false;
    this.#column = TEXT_COLUMN_BYTES_MAX;
    this.#replace(data, at, at);
  }

  /** To the end of the line, which stays. */
  #skipColumn(data: Buffer, from: number): number {
    const newline = data.subarray(0, from + this.#column).indexOf(NEWLINE, from);
    const end = newline < 0 ? Math.min(data.length, from + this.#column) : newline;
    this.#column = newline < 0 ? this.#column - (end - from) : 0;
    this.#doneTo = this.#base + end;
    return end;
  }

  /** One mark for what overlaps. */
  #replace(data: Buffer, start: number, end: number): void {
    const done = this.#doneTo - this.#base;
    if (start >= done) this.#parts.push(data.subarray(Math.max(0, done), start), this.#mark);
    this.#doneTo = this.#base + end;
  }

  #answer(data: Buffer, until: number): Buffer {
    const done = Math.max(0, this.#doneTo - this.#base);
    const plain = this.#parts.length === 0 && done === 0;
    if (until > done) this.#parts.push(data.subarray(done, until));
    this.#doneTo = Math.max(this.#doneTo, this.#base + until);
    this.#base += until;
    // A copy: the caller reuses the memory of the data.
    this.#held = until < data.length ? Buffer.from(data.subarray(until)) : NOTHING;
    if (plain && until === data.length) return data;
    return this.#parts.length === 1 ? (this.#parts[0] ?? NOTHING) : Buffer.concat(this.#parts);
  }
}

/** The first digits from a place on, as a number. */
function digitsFrom(data: Buffer, start: number, count: number): number {
  let number = 0;
  for (let at = start, left = count; left > 0 && at < data.length; at += 1) {
    if (!isDigit(data, at, data.length - 1)) continue;
    number = (number << 4) | (KINDS[data[at] ?? 0] ?? 0);
    left -= 1;
  }
  return number;
}

/** The 0 of 0xaa is not one. The bytes after `last` were not read yet. */
function isDigit(data: Buffer, at: number, last: number): boolean {
  return (KINDS[data[at] ?? 0] ?? OTHER) < SEPARATOR && !(data[at] === ZERO && at < last && data[at + 1] === SMALL_X);
}

/** The offset of the last `count` digits at or before `last`. */
function placeOf(data: Buffer, last: number, count: number): number {
  let left = count;
  for (let at = last; at > 0; at -= 1) {
    if (isDigit(data, at, last)) left -= 1;
    if (left === 0) return at;
  }
  return 0;
}

/**
 * The next run of 12 digits and separators, or the last bytes, which may be the start of such a run. `from` follows a
 * byte that is neither. Tests the last two of 12 bytes first, and in plain text few others.
 */
function nextRun(data: Buffer, from: number, shifts: Uint8Array): number {
  const { length } = data;
  let end = from + RUN_DIGITS - 1;
  while (end < length) {
    const shift = shifts[((data[end - 1] ?? 0) << 8) | (data[end] ?? 0)] ?? 0;
    end += shift;
    if (shift > 0) continue;
    const first = end - RUN_DIGITS + 1;
    let at = end - 1;
    while (at > first && shifts[((data[at - 1] ?? 0) << 8) | (data[at] ?? 0)] === 0) at -= 1;
    if (at === first) return first;
    end = at + (KINDS[data[at] ?? 0] === OTHER ? RUN_DIGITS : RUN_DIGITS - 1);
  }
  return end - RUN_DIGITS + 1;
}
