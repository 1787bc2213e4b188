import type { Clock } from '../../lib/clock.ts';
import { leaveShards, renewShards } from '../../store/checks/shards.ts';
import type { Store } from '../../store/store.ts';
import type { Ownership } from './ownership.ts';

interface SharedOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly self: () => string;
}

/** Of a share of the targets, in milliseconds: with a renewal, a death moves them within 12 s. */
export const SHARE_LEASE_MS = 10_000;
const RENEW_MS = 2_000;
/** Of the lease, when a daemon that could not renew it begins no probe any more. */
const TRUST_SHARE = 0.8;

const NOTHING: ReadonlySet<number> = new Set();

/** Where daemons of several machines share a database, each probes the targets of the shards that it has leased. */
export function sharedOwnership({ store, clock, self }: SharedOptions): Ownership {
  let owned: ReadonlySet<number> = NOTHING;
  let leaving: readonly number[] = [];
  let trustedUntil = Number.NEGATIVE_INFINITY;
  let renewAt = Number.NEGATIVE_INFINITY;
  let ahead = clock.now() - clock.monotonic();
  return {
    async renew() {
      const askedAt = clock.monotonic();
      if (askedAt < renewAt) return;
      const databaseNow = await store.dialect.leaseClock(store.db);
      ahead = databaseNow - (askedAt + clock.monotonic()) / 2;
      const { held, surplus } = await store.write((tx) => renewShards(tx, self(), SHARE_LEASE_MS, leaving));
      leaving = surplus;
      owned = new Set(held).difference(new Set(surplus));
      trustedUntil = askedAt + SHARE_LEASE_MS * TRUST_SHARE;
      renewAt = askedAt + RENEW_MS;
    },
    shards: () => (clock.monotonic() < trustedUntil ? owned : NOTHING),
    ahead: () => ahead,
    // Times in the store are whole milliseconds.
    now: () => Math.round(clock.monotonic() + ahead),
    async release() {
      await store.write((tx) => leaveShards(tx, self()));
      owned = NOTHING;
    },
  };
}
