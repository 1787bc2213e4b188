import { readFileSync } from 'node:fs';
import { type BlockList, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalAddress, destinationsOf } from '../lib/ip/address.ts';
import type { Clock } from '../lib/clock.ts';
import { localRoutes } from './local-routes.ts';

/** Addresses and routes come and go while the service runs. Asking the kernel takes some 0.1 ms. */
const KNOWN_FOR_MS = 1_000;
/** The tables of a router have a million lines: reading them takes at most this share of the time. */
const READING_SHARE = 100;

interface Own {
  readonly addresses: ReadonlySet<string>;
  readonly routes: BlockList;
}

/** Tells whether packets to an IP literal reach this machine: an address of an interface, or one of a local route. */
export function ownAddresses(clock: Clock): (address: string) => boolean {
  let own: Own | null = null;
  let until = Number.NEGATIVE_INFINITY;
  return (address) => {
    const before = clock.monotonic();
    if (own === null || before >= until) {
      own = readOwn();
      const now = clock.monotonic();
      until = now + Math.max(KNOWN_FOR_MS, (now - before) * READING_SHARE);
    }
    return destinationsOf(address).some((each) => isOwn(own, each));
  };
}

function isOwn(own: Own | null, address: string): boolean {
  if (own === null) return false;
  return own.addresses.has(address) || own.routes.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function readOwn(): Own {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return {
    addresses: new Set(all.flatMap(({ address }) => canonicalAddress(address) ?? [])),
    routes: localRoutes(tableOf('fib_trie'), tableOf('ipv6_route')),
  };
}

/** Empty where the system has no such table. */
function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1');
  } catch {
    return '';
  }
}
