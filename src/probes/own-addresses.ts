import { networkInterfaces } from 'node:os';
import { canonicalAddress, destinationsOf } from '../domain/netgroups/address.ts';
import type { Clock } from '../lib/clock.ts';

/** Interfaces get and lose addresses while the service runs. Asking the kernel takes some 0.1 ms. */
const KNOWN_FOR_MS = 1_000;

/** Tells whether packets to an IP literal reach an address of an interface of this machine. */
export function ownAddresses(clock: Clock): (address: string) => boolean {
  let own: ReadonlySet<string> = new Set();
  let until = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (clock.monotonic() >= until) {
      own = readOwn();
      until = clock.monotonic() + KNOWN_FOR_MS;
    }
    return destinationsOf(address).some((each) => own.has(each));
  };
}

function readOwn(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(all.flatMap(({ address }) => canonicalAddress(address) ?? []));
}
