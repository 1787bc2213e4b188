import { canonicalAddress } from './address.ts';
import { ADDRESS_WORDS, type AddressFamily, groupAt, readAddress } from './numeric.ts';

/** Bits of an address. */
export const FAMILY_BITS: Readonly<Record<AddressFamily, number>> = { 4: 32, 6: 128 };
/** Bits in front of an IPv4 address in IPv6 form. */
const MAPPED_BITS = 96;
const WORD_BITS = 32;
const GROUPS = [0, 1, 2, 3, 4, 5, 6, 7];

/** An address of a family, and how many of its first bits count. The other bits are 0. */
interface Prefix {
  readonly family: AddressFamily;
  readonly bits: number;
  /** See numeric.ts. */
  readonly words: Uint32Array;
}

/**
 * Reads `10.0.0.0/8` or `fd00::/8`; an address alone is a prefix of one address. Bits behind the length are set to 0,
 * and an IPv4 prefix in IPv6 form becomes IPv4. Null for any other text.
 */
export function readPrefix(text: string): Prefix | null {
  const [, address = '', length] = /^([0-9a-f.:]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const words = new Uint32Array(ADDRESS_WORDS);
  const family = readAddress(address, words);
  if (family === null) return null;
  const isMapped = family === 4 && address.includes(':');
  const given = length === undefined ? FAMILY_BITS[isMapped ? 6 : family] : Number(length);
  const bits = isMapped ? given - MAPPED_BITS : given;
  if (bits < 0 || bits > FAMILY_BITS[family]) return null;
  mask(words, family, bits);
  return { family, bits, words };
}

/** The one text of a prefix. */
export function prefixText({ family, bits, words }: Prefix): string {
  const groups = GROUPS.map((group) => groupAt(words, group));
  const address =
    family === 4
      ? groups
          .slice(6)
          .flatMap((group) => [group >>> 8, group & 255])
          .join('.')
      : canonicalAddress(groups.map((group) => group.toString(16)).join(':'));
  return `${address}/${bits}`;
}

/** Sets the bits behind the first `bits` to 0. */
function mask(words: Uint32Array, family: AddressFamily, bits: number): void {
  const first = family === 4 ? ADDRESS_WORDS - 1 : 0;
  for (let at = 0; at < ADDRESS_WORDS; at += 1) {
    const kept = Math.min(Math.max(bits - (at - first) * WORD_BITS, 0), WORD_BITS);
    // A shift by 32 bits would shift by none.
    const ones = kept === 0 ? 0 : -1 << (WORD_BITS - kept);
    words[at] = (words[at] ?? 0) & ones;
  }
}
