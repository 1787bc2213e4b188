import type { Clock } from '../../../lib/clock.ts';
import type { LeaseTimes } from '../../../runners/process/lease-times.ts';

/**
 * Of the lease, when a daemon that could not renew it ends its jobs: TERM at 60 %, KILL at 85 %, before another daemon
 * may act.
 */
const TERM_SHARE = 0.6;
const KILL_SHARE = 0.85;
/** A lease is renewed this many times while it lasts. */
const RENEWALS = 6;
/** Without a lease there is no limit. */
const NO_LIMIT_US = BigInt(Number.MAX_SAFE_INTEGER);
const US_PER_MS = 1_000;

/** What the thread that renews the lease and the event loop both read and write. */
export type SharedLease = BigInt64Array<SharedArrayBuffer>;

/** The places in it: until when jobs may live, in microseconds; and turns of the event loop, counted each second. */
const TERM_AT = 0;
const TURNS = 1;

export function newSharedLease(): SharedLease {
  const shared = new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT));
  Atomics.store(shared, TERM_AT, NO_LIMIT_US);
  return shared;
}

export function countTurn(shared: SharedLease): void {
  Atomics.add(shared, TURNS, 1n);
}

export function turnsOf(shared: SharedLease): bigint {
  return Atomics.load(shared, TURNS);
}

/** Until when the jobs of this daemon may live, by the monotonic clock: the same in each thread of the process. */
export class Trust {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #leaseMs: number;
  readonly #shared: SharedLease;

  constructor(clock: Pick<Clock, 'monotonic'>, leaseMs: number, shared: SharedLease) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#shared = shared;
  }

  /**
   * The lease was given or renewed by a request that was sent at `askedAt` of the monotonic clock. Counted from before
   * the request was sent, the time ends before the database's lease does, however long the answer took.
   */
  renewed(askedAt: number): void {
    Atomics.store(this.#shared, TERM_AT, BigInt(Math.floor((askedAt + this.#leaseMs * TERM_SHARE) * US_PER_MS)));
  }

  /** For the guard, which ends the jobs. */
  times(): LeaseTimes {
    const termAt = this.#termAt();
    return { termAt, killAt: termAt + this.#leaseMs * (KILL_SHARE - TERM_SHARE) };
  }

  /** True from when on the guard ends jobs by itself, until the lease is renewed. */
  isOver(): boolean {
    return this.now() >= this.#termAt();
  }

  now(): number {
    return this.#clock.monotonic();
  }

  #termAt(): number {
    return Number(Atomics.load(this.#shared, TERM_AT)) / US_PER_MS;
  }
}

export function renewEveryMs(leaseMs: number): number {
  return Math.max(100, Math.floor(leaseMs / RENEWALS));
}

interface RenewalDeps {
  readonly trust: Trust;
  /** False for a lease that had run out or was taken. */
  readonly renew: () => Promise<boolean>;
  /** Writes the new limits for the guard. */
  readonly extend: (times: LeaseTimes) => void;
}

/** `late`: the lease is still ours, but the guard may have begun to end jobs before it was renewed. */
export type Renewal = 'in-time' | 'late' | 'lost';

/** Renews the lease once. */
export async function renewOnce({ trust, renew, extend }: RenewalDeps): Promise<Renewal> {
  const askedAt = trust.now();
  if (!(await renew())) return 'lost';
  const late = trust.isOver();
  trust.renewed(askedAt);
  extend(trust.times());
  return late ? 'late' : 'in-time';
}
