import type { Clock } from '../../lib/clock.ts';
import { GRACE_MS } from '../../store/maintenance/retention-turn.ts';

/**
 * Notices that the clock was set far ahead, which makes every row old: for 7 days after that nothing is to be deleted,
 * so that somebody can correct the clock. A machine that slept for a week looks the same, and so does a service that
 * was stopped for a week.
 */
export class ClockWatch {
  readonly #clock: Clock;
  #now: number;
  #monotonic: number;
  /** On the monotonic clock. */
  #suspiciousUntil = Number.NEGATIVE_INFINITY;

  /** `lastSeenAt`: when a daemon of the store was last seen, in milliseconds since the epoch; null if none was. */
  constructor(clock: Clock, lastSeenAt: number | null) {
    this.#clock = clock;
    this.#now = lastSeenAt ?? clock.now();
    this.#monotonic = clock.monotonic();
  }

  /** To be called from time to time. */
  isSuspicious(): boolean {
    const [now, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    const aheadMs = now - this.#now - (monotonic - this.#monotonic);
    if (aheadMs > GRACE_MS) this.#suspiciousUntil = monotonic + GRACE_MS;
    [this.#now, this.#monotonic] = [now, monotonic];
    return monotonic < this.#suspiciousUntil;
  }
}
