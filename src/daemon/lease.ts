import type { Clock } from '../lib/clock.ts';
import { renewLease } from '../store/daemons.ts';
import type { Store } from '../store/store.ts';

/** Of the lease, when a daemon that could not renew it ends its jobs: TERM at 60 %, KILL at 85 %, before anybody may act. */
const TERM_SHARE = 0.6;
const KILL_SHARE = 0.85;
/** A lease is renewed this many times while it lasts. */
const RENEWALS = 6;

export interface LeaseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly self: () => string;
  /** Tells the guard until when the jobs may live. */
  readonly extend: (limits: { untilTermMs: number; untilKillMs: number }) => void;
  readonly onLost: () => Promise<void>;
}

export function renewEveryMs(leaseMs: number): number {
  return Math.max(100, Math.floor(leaseMs / RENEWALS));
}

/**
 * Renews the lease once. The time that the jobs may go on is counted from before the request was sent, so it ends
 * before the database's lease does, however long the answer took.
 */
export async function renewOnce(deps: LeaseDeps): Promise<void> {
  const asked = deps.clock.monotonic();
  const held = await deps.store.write((tx) => renewLease(tx, deps.self(), deps.leaseMs));
  if (!held) return deps.onLost();
  const gone = deps.clock.monotonic() - asked;
  deps.extend({
    untilTermMs: Math.max(0, deps.leaseMs * TERM_SHARE - gone),
    untilKillMs: Math.max(0, deps.leaseMs * KILL_SHARE - gone),
  });
}
