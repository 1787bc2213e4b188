import type { Netgroup } from './netgroup.ts';
import { ADDRESS_WORDS } from '../../lib/ip/numeric.ts';
import { FAMILY_BITS, readPrefix } from '../../lib/ip/prefix.ts';
import type { PrefixList } from './prefix-list.ts';

const WORD_BITS = 32;

/** The groups with a prefix in one of these lists, or around a part of one: their answers change with the list. */
export function touchedGroups(lists: readonly PrefixList[], groups: readonly Netgroup[]): string[] {
  const changed = new Set(lists.flatMap(({ prefixes, excludes }) => [...prefixes, ...excludes]).flatMap(bitsOf));
  const around = new Set([...changed].flatMap(beginningsOf));
  // Two prefixes are apart, or one is in the other.
  const lengths = [...new Set([...changed].map(({ length }) => length))];
  const isTouched = (bits: string): boolean =>
    around.has(bits) || lengths.some((length) => length <= bits.length && changed.has(bits.slice(0, length)));
  return groups.filter(({ prefixes }) => prefixes.flatMap(bitsOf).some(isTouched)).map(({ name }) => name);
}

/** The family and the bits that count, a character each; none for what is no prefix. */
function bitsOf(text: string): string[] {
  const prefix = readPrefix(text);
  if (prefix === null) return [];
  const { family, bits, words } = prefix;
  const own = [...words.subarray(ADDRESS_WORDS - FAMILY_BITS[family] / WORD_BITS)];
  return [
    `${family}:${own
      .map((word) => word.toString(2).padStart(WORD_BITS, '0'))
      .join('')
      .slice(0, bits)}`,
  ];
}

/** All prefixes around it, and itself. */
function beginningsOf(bits: string): string[] {
  const from = bits.indexOf(':') + 1;
  return Array.from({ length: bits.length - from + 1 }, (_each, at) => bits.slice(0, from + at));
}
