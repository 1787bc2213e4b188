import type { LoopRow } from './loop.ts';
import type { Clock } from '../../lib/clock.ts';
import { renewLease } from '../../store/maintenance/daemons.ts';
import type { Store } from '../../store/store.ts';

/**
 * Of the lease, when a daemon that could not renew it ends its jobs: TERM at 60 %, KILL at 85 %, before another daemon
 * may act.
 */
const TERM_SHARE = 0.6;
const KILL_SHARE = 0.85;
/** A lease is renewed this many times while it lasts. */
const RENEWALS = 6;

export interface LeaseDeps {
  readonly store: Store;
  readonly leaseMs: number;
  readonly self: () => string;
  readonly trust: Trust;
  /** The lease is still ours, but the guard may have begun to end jobs before it was renewed. */
  readonly onLate: () => void;
  readonly onLost: () => Promise<void>;
}

interface TrustOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Tells the guard until when the jobs may live, in milliseconds from now. */
  readonly extend: (limits: { untilTermMs: number; untilKillMs: number }) => void;
}

/** Until when the jobs of this daemon may live, by its own clock. Without a lease there is no limit. */
export class Trust {
  readonly #options: TrustOptions;
  #termAt = Number.POSITIVE_INFINITY;

  constructor(options: TrustOptions) {
    this.#options = options;
  }

  /**
   * The lease was given or renewed by a request that was sent at `askedAt` of the monotonic clock. Counted from before
   * the request was sent, the time ends before the database's lease does, however long the answer took.
   */
  renewed(askedAt: number): void {
    const { clock, leaseMs, extend } = this.#options;
    this.#termAt = askedAt + leaseMs * TERM_SHARE;
    const gone = clock.monotonic() - askedAt;
    extend({
      untilTermMs: Math.max(0, leaseMs * TERM_SHARE - gone),
      untilKillMs: Math.max(0, leaseMs * KILL_SHARE - gone),
    });
  }

  /** True from when on the guard ends jobs by itself, until the lease is renewed. */
  isOver(): boolean {
    return this.now() >= this.#termAt;
  }

  now(): number {
    return this.#options.clock.monotonic();
  }
}

export function renewEveryMs(leaseMs: number): number {
  return Math.max(100, Math.floor(leaseMs / RENEWALS));
}

/** Renews the lease once. */
export async function renewOnce({ store, leaseMs, self, trust, onLate, onLost }: LeaseDeps): Promise<void> {
  const askedAt = trust.now();
  const held = await store.write((tx) => renewLease(tx, self(), leaseMs));
  if (!held) return onLost();
  const late = trust.isOver();
  trust.renewed(askedAt);
  if (late) onLate();
}

/** The lease outlives the jobs: while they end, no other daemon may claim them. */
export const leaseLoop: LoopRow<LeaseDeps> = {
  name: 'lease',
  everyMs: ({ leaseMs }) => renewEveryMs(leaseMs),
  wakeOn: [],
  runs: ({ store }) => store.dialect.liveness === 'lease',
  once: renewOnce,
  outlivesJobs: true,
};
