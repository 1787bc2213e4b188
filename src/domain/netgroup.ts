import { AWAY } from './event.ts';

/** A named set of addresses, as far as the classification needs it. Addresses are in their plain form. */
export interface Netgroup {
  readonly name: string;
  /** Whether one of its prefixes covers the address. */
  includes(address: string): boolean;
  /** Whether one of its exclusions does. */
  excludes(address: string): boolean;
}

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** An IPv4 address as such, also where a listener that hears both families wraps it in IPv6; no zone of a link. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, '').replace(/%.*$/s, '').toLowerCase();
}

/** The name of the group that an address belongs to: the first that covers it; `away` where none does, and wherever any excludes it. */
export function classify(address: string, groups: readonly Netgroup[]): string {
  const plain = plainAddress(address);
  if (groups.some((group) => group.excludes(plain))) return AWAY;
  return groups.find((group) => group.includes(plain))?.name ?? AWAY;
}
