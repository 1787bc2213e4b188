/**
 * Consecutive bytes of a value that make a match: fewer would match by chance. In a dump at most 5 remain at the ends
 * of a line, as in other folded texts. They are found as overlapping windows of 4 bytes, because 32 bits are one
 * number.
 */
const VALUE_BYTES_MIN = 6;
export const RUN_DIGITS = VALUE_BYTES_MIN * 2;
const WINDOW_BYTES = 4;
export const WINDOW_DIGITS = WINDOW_BYTES * 2;
/** Only the start of a longer value is looked for in groups: 8 bytes of memory for each of its bytes. */
const VALUE_BYTES_MAX = 4_096;
export const ZERO = 0x30;
export const SMALL_X = 0x78;
export const LOW_BITS = 0xffff;
export const SEPARATOR = 16;
export const OTHER = 17;
/** By byte: the value of a digit, SEPARATOR or OTHER. */
export const KINDS = new Uint8Array(256).fill(OTHER);
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  KINDS[digit.charCodeAt(0)] = value;
  KINDS[digit.toUpperCase().charCodeAt(0)] = value;
}
for (const separator of ' \t:-,\\xX') KINDS[separator.charCodeAt(0)] = SEPARATOR;

/** By the last two of 12 bytes: how many to skip, if these two cannot be in the digits of a value. */
const NO_VALUES = new Uint8Array(65_536).fill(RUN_DIGITS - 1);
for (let pair = 0; pair < NO_VALUES.length; pair += 1) if (KINDS[pair & 0xff] === OTHER) NO_VALUES[pair] = RUN_DIGITS;
const SEPARATORS = Array.from(KINDS.keys()).filter((byte) => KINDS[byte] === SEPARATOR);
const DIGITS = Array.from(KINDS.keys()).filter((byte) => (KINDS[byte] ?? OTHER) < SEPARATOR);

/** The windows of all values of a run, as 32-bit numbers. */
export class HexWindows {
  readonly #sorted: Uint32Array;
  /** By the low 16 bits of a window: 1 where there is one. */
  readonly low = new Uint8Array(LOW_BITS + 1);
  /**
   * Like NO_VALUES, with 0 for two adjacent bytes in the digits of these values. The bytes of a text begin with few
   * different digits, so two letters of prose hardly ever match.
   */
  readonly shifts: Uint8Array;

  constructor(values: readonly Buffer[]) {
    this.#sorted = Uint32Array.from(new Set(values.flatMap(windowsOf))).toSorted();
    for (const window of this.#sorted) this.low[window & LOW_BITS] = 1;
    this.shifts = this.isEmpty ? NO_VALUES : shiftsOf(Buffer.concat(values));
  }

  get isEmpty(): boolean {
    return this.#sorted.length === 0;
  }

  has(window: number): boolean {
    return this.#sorted[this.#first(window >>> 0)] === window >>> 0;
  }

  /** Whether a window begins with these digits, of which there are 1 to 8. */
  beginsWith(digits: number, count: number): boolean {
    const least = count === WINDOW_DIGITS ? digits >>> 0 : (digits << (32 - 4 * count)) >>> 0;
    const found = this.#sorted[this.#first(least)];
    return found !== undefined && found <= least + 2 ** (32 - 4 * count) - 1;
  }

  /** The place of the first window that is not below this one. */
  #first(window: number): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < window) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function shiftsOf(bytes: Buffer): Uint8Array {
  const shifts = NO_VALUES.slice();
  const [used, high, low] = [[...new Set(bytes)], new Set<number>([]), new Set<number>([])];
  for (const byte of used) {
    high.add(byte >> 4);
    low.add(byte & 15);
  }
  const highs = DIGITS.filter((digit) => high.has(KINDS[digit] ?? OTHER));
  const lows = DIGITS.filter((digit) => low.has(KINDS[digit] ?? OTHER));
  const allow = (first: readonly number[], second: readonly number[]): void => {
    for (const one of first) for (const other of second) shifts[(one << 8) | other] = 0;
  };
  allow(highs, lows);
  allow(lows, highs);
  allow(lows, SEPARATORS);
  allow(SEPARATORS, SEPARATORS);
  allow(SEPARATORS, [...highs, ZERO]);
  allow([ZERO], [SMALL_X]);
  return shifts;
}

/** In byte order, and with pairs swapped, as od and hexdump print words. Without windows of one repeated byte. */
function windowsOf(value: Buffer): number[] {
  const windows: number[] = [];
  for (
    let at = 0;
    value.length >= VALUE_BYTES_MIN && at + WINDOW_BYTES <= Math.min(value.length, VALUE_BYTES_MAX);
    at += 1
  ) {
    const window = value.readUInt32BE(at);
    if (window === ((window & 0xff) * 0x01010101) >>> 0) continue;
    windows.push(window, (((window & 0x00ff00ff) << 8) | ((window >>> 8) & 0x00ff00ff)) >>> 0);
  }
  return windows;
}
