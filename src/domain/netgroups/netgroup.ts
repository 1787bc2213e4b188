import { canonicalAddress } from './address.ts';
import { AWAY } from '../events/event.ts';

/** A named set of addresses, as far as the classification needs it. Addresses are in their plain form. */
export interface Netgroup {
  readonly name: string;
  /** Whether one of its prefixes covers the address. */
  includes(address: string): boolean;
  /** Whether one of its exclusions does. */
  excludes(address: string): boolean;
}

/** The canonical form of a peer's address, without the zone of a link; other text as it is, in lower case. */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/s, '').toLowerCase();
  return canonicalAddress(bare) ?? bare;
}

/** The name of the first group that covers an address; `away` if none does or any excludes it. */
export function classify(address: string, groups: readonly Netgroup[]): string {
  const plain = plainAddress(address);
  if (groups.some((group) => group.excludes(plain))) return AWAY;
  return groups.find((group) => group.includes(plain))?.name ?? AWAY;
}
