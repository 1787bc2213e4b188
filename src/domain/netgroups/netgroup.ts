import { ADDRESS_WORDS, type AddressFamily, readAddress } from '../../lib/ip/numeric.ts';
import { AWAY, type PrefixList } from './prefix-list.ts';
import { FAMILY_BITS, readPrefix } from '../../lib/ip/prefix.ts';

const WORD_BITS = 32;
const WORD_VALUES = 2 ** WORD_BITS;

export interface Netgroup extends PrefixList {
  readonly name: string;
}

/** The prefix that decides the group of an address. */
interface NetgroupMatch {
  readonly netgroup: string;
  readonly prefix: string;
  /** The address is in an exclusion, so it is away. */
  readonly isExclusion: boolean;
}

/** Finds the groups of addresses. */
export interface NetgroupIndex {
  /** Name of the group that covers an address in any spelling; `away` for every other text. */
  classify(address: string): string;
  /** The prefix that decides; null if none covers the address. */
  match(address: string): NetgroupMatch | null;
  /** Groups with a prefix that cannot be read, because somebody wrote into the database: they cover nothing (T80). */
  readonly unread: readonly string[];
}

/**
 * An exclusion of any group wins over every prefix; then the longest prefix has the address, and of equal prefixes that
 * of the name that sorts first. An IPv6 prefix covers no IPv4 address, in whichever form that is written.
 */
export function compileNetgroups(groups: readonly Netgroup[]): NetgroupIndex {
  const words = new Uint32Array(ADDRESS_WORDS);
  const { spans, unread } = spansOf(groups);
  const ranges = { 4: compileRanges(spans, 4), 6: compileRanges(spans, 6) };
  const match = (address: string): NetgroupMatch | null => {
    const family = readAddress(address, words);
    return family === null ? null : find(ranges[family], words);
  };
  return {
    match,
    unread,
    classify(address) {
      const found = match(address);
      return found === null || found.isExclusion ? AWAY : found.netgroup;
    },
  };
}

/** The addresses of a family as ranges without gaps. Each has one match. */
interface Ranges {
  /** Words of the first address of each range, in order: one of an IPv4 address, four of an IPv6 address. */
  readonly starts: Uint32Array;
  readonly width: number;
  readonly matches: readonly (NetgroupMatch | null)[];
}

/** Finds the last range that starts at or before the address. */
function find({ starts, width, matches }: Ranges, words: Uint32Array): NetgroupMatch | null {
  let low = 0;
  let high = matches.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (isAtMost(starts, middle * width, words, width)) low = middle;
    else high = middle;
  }
  return matches[low] ?? null;
}

function isAtMost(starts: Uint32Array, from: number, words: Uint32Array, width: number): boolean {
  for (let at = 0; at < width; at += 1) {
    const start = starts[from + at] ?? 0;
    const word = words[ADDRESS_WORDS - width + at] ?? 0;
    if (start !== word) return start < word;
  }
  return true;
}

/** A prefix as the words of its first address and of the first behind it. */
interface Span {
  readonly family: AddressFamily;
  readonly first: readonly number[];
  /** Null behind the last address. */
  readonly end: readonly number[] | null;
  readonly match: NetgroupMatch;
}

function compileRanges(spans: readonly Span[], family: AddressFamily): Ranges {
  const width = FAMILY_BITS[family] / WORD_BITS;
  const starts: (readonly number[])[] = [Array<number>(width).fill(0)];
  const matches: (NetgroupMatch | null)[] = [null];
  const begin = (start: readonly number[], match: NetgroupMatch | null): void => {
    if (compareWords(start, starts.at(-1) ?? null) === 0) matches[matches.length - 1] = match;
    else if (matches.at(-1) !== match) {
      starts.push(start);
      matches.push(match);
    }
  };
  // Two prefixes are either apart, or one is in the other: what is open is a stack, the longest prefix on top.
  const open: Span[] = [];
  const closeUntil = (start: readonly number[] | null): void => {
    for (let top = open.at(-1); top !== undefined && compareWords(top.end, start) <= 0; top = open.at(-1)) {
      open.pop();
      if (top.end !== null) begin(top.end, open.at(-1)?.match ?? null);
    }
  };
  for (const span of spans) {
    if (span.family !== family) continue;
    closeUntil(span.first);
    const around = open.at(-1);
    // Of equal prefixes the first in order has the addresses; an exclusion has all that is in it.
    const isEqual = around !== undefined && compareSpans(around, span) === 0;
    if (isEqual || (around?.match.isExclusion === true && !span.match.isExclusion)) continue;
    open.push(span);
    begin(span.first, span.match);
  }
  closeUntil(null);
  return { starts: Uint32Array.from(starts.flat()), width, matches };
}

/** In the order of their addresses, shorter prefixes first; of equal ones exclusions, then by the names of groups. */
function spansOf(groups: readonly Netgroup[]): { spans: readonly Span[]; unread: readonly string[] } {
  const spans: Span[] = [];
  const unread: string[] = [];
  for (const { name, prefixes, excludes } of groups) {
    const read = [
      ...prefixes.map((prefix) => spanOf({ netgroup: name, prefix, isExclusion: false })),
      ...excludes.map((prefix) => spanOf({ netgroup: name, prefix, isExclusion: true })),
    ];
    const fit = read.filter((span) => span !== null);
    if (fit.length === read.length) spans.push(...fit);
    else unread.push(name);
  }
  return { spans: spans.toSorted((a, b) => compareSpans(a, b) || compareMatches(a.match, b.match)), unread };
}

function spanOf(match: NetgroupMatch): Span | null {
  const prefix = readPrefix(match.prefix);
  if (prefix === null) return null;
  const { family, bits, words } = prefix;
  const first = [...words.subarray(ADDRESS_WORDS - FAMILY_BITS[family] / WORD_BITS)];
  return { family, first, end: behind(first, bits), match };
}

/** The first address behind a prefix: adds 1 at its last bit. Null behind the last address. */
function behind(first: readonly number[], bits: number): readonly number[] | null {
  const end = [...first];
  let carry = 2 ** ((WORD_BITS - (bits % WORD_BITS)) % WORD_BITS);
  for (let at = Math.ceil(bits / WORD_BITS) - 1; at >= 0; at -= 1) {
    const sum = (end[at] ?? 0) + carry;
    end[at] = sum % WORD_VALUES;
    if (sum < WORD_VALUES) return end;
    carry = 1;
  }
  return null;
}

function compareSpans(a: Span, b: Span): number {
  return compareWords(a.first, b.first) || compareWords(b.end, a.end);
}

/** Null, behind the last address, is the greatest. */
function compareWords(a: readonly number[] | null, b: readonly number[] | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  for (let at = 0; at < a.length; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareMatches(a: NetgroupMatch, b: NetgroupMatch): number {
  if (a.isExclusion !== b.isExclusion) return a.isExclusion ? -1 : 1;
  if (a.netgroup === b.netgroup) return 0;
  return a.netgroup < b.netgroup ? -1 : 1;
}
