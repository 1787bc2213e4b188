/**
 * Addresses as numbers, for comparing many: four words of 32 bits in a buffer that the caller owns. An IPv4 address,
 * also one in IPv6 form (`::ffff:10.0.0.1`), is the last word. `isIP` of Node and URL take three times as long; a test
 * compares them with this.
 */
export type AddressFamily = 4 | 6;

export const ADDRESS_WORDS = 4;
const GROUPS = 8;
const GROUP_DIGITS_MAX = 4;
/** The third word of an IPv4 address in IPv6 form, whose first two words are 0. */
const MAPPED = 0xffff;

const DOT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const SMALL_A = 97;
const SMALL_F = 102;
/** The difference of small and capital letters. */
const CASE_BIT = 32;

/** Reads an IP literal in any spelling, without a zone. Null for any other text; `words` is then undefined. */
export function readAddress(text: string, words: Uint32Array): AddressFamily | null {
  const four = readIPv4(text, 0);
  if (four >= 0) {
    words[3] = four;
    return 4;
  }
  if (!readIPv6(text, words)) return null;
  return words[0] === 0 && words[1] === 0 && words[2] === MAPPED ? 4 : 6;
}

/** The number of the dotted address from `start` to the end; -1 for any other text, also with leading zeros. */
function readIPv4(text: string, start: number): number {
  let [value, octet, digits, dots] = [0, 0, 0, 0];
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT && digits > 0 && dots < 3) {
      value = value * 256 + octet;
      octet = 0;
      digits = 0;
      dots += 1;
    } else if (code >= ZERO && code <= NINE && (digits === 0 || octet > 0)) {
      octet = octet * 10 + code - ZERO;
      if (octet > 255) return -1;
      digits += 1;
    } else return -1;
  }
  return dots === 3 && digits > 0 ? value * 256 + octet : -1;
}

function readIPv6(text: string, words: Uint32Array): boolean {
  words.fill(0);
  let count = 0;
  /** The number of groups before `::`; -1 without it. */
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    const start = at;
    let value = 0;
    for (let digit = hexDigit(text, at); digit >= 0 && at - start <= GROUP_DIGITS_MAX; digit = hexDigit(text, at)) {
      value = value * 16 + digit;
      at += 1;
    }
    if (text.charCodeAt(at) === DOT) {
      const four = readIPv4(text, start);
      if (four < 0 || count > GROUPS - 2) return false;
      setGroup(words, count, four >>> 16);
      setGroup(words, count + 1, four & 0xffff);
      return close(words, count + 2, gap);
    }
    if (at === start || at - start > GROUP_DIGITS_MAX || count === GROUPS) return false;
    setGroup(words, count, value);
    count += 1;
    if (at === text.length) break;
    // There is a colon between two groups; `::` replaces groups of zeros, once.
    if (text.charCodeAt(at) !== COLON) return false;
    at += 1;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      at += 1;
    } else if (at === text.length) return false;
  }
  return close(words, count, gap);
}

/** Moves the groups behind `::` to the end. False where the number of groups is wrong. */
function close(words: Uint32Array, count: number, gap: number): boolean {
  if (gap < 0 || count >= GROUPS) return gap < 0 && count === GROUPS;
  const moved = GROUPS - count;
  for (let from = count - 1; from >= gap; from -= 1) {
    const value = groupAt(words, from);
    setGroup(words, from, 0);
    setGroup(words, from + moved, value);
  }
  return true;
}

/** -1 for any other character, and at the end. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const small = code | CASE_BIT;
  return small >= SMALL_A && small <= SMALL_F ? small - SMALL_A + 10 : -1;
}

export function groupAt(words: Uint32Array, group: number): number {
  const word = words[group >>> 1] ?? 0;
  return group % 2 === 0 ? word >>> 16 : word & 0xffff;
}

function setGroup(words: Uint32Array, group: number, value: number): void {
  const word = words[group >>> 1] ?? 0;
  words[group >>> 1] = group % 2 === 0 ? (word & 0xffff) | (value << 16) : (word & 0xffff_0000) | value;
}
