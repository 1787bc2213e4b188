import type { Clock } from '../../lib/clock.ts';
import { GRACE_MS } from '../../store/maintenance/retention-turn.ts';

/**
 * Notices that the clock was set far ahead, which makes every row old: for 7 days after that nothing is to be deleted,
 * so that somebody can correct the clock. A machine that slept for a week looks the same.
 */
export class ClockWatch {
  readonly #clock: Clock;
  #now: number;
  #monotonic: number;
  /** On the monotonic clock. */
  #suspiciousUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#now = clock.now();
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
