import type { Clock } from '../../lib/clock.ts';

/** What a holder may take at once, and what it gets back each second. */
const FULL = 1_000;
const PER_SECOND = 100;
/** Beyond this number, those that have their full budget are forgotten. */
const HOLDERS_KEPT = 1_000;

interface Budget {
  left: number;
  at: number;
}

/**
 * A rate for each holder. Who has something left may take any amount, and then waits until it is paid back: to probe a
 * check of 10,000 targets once must be possible, to do so in a loop must not.
 */
export class RateBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #budgets = new Map<string, Budget>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** False where nothing is left; then nothing was taken. */
  take(holder: string, amount: number): boolean {
    if (amount === 0) return true;
    const now = this.#clock.monotonic();
    const left = this.#leftAt(this.#budgets.get(holder), now);
    if (left <= 0) return false;
    this.#budgets.set(holder, { left: left - amount, at: now });
    if (this.#budgets.size > HOLDERS_KEPT) this.#forget(now);
    return true;
  }

  #leftAt(budget: Budget | undefined, now: number): number {
    return budget === undefined ? FULL : Math.min(FULL, budget.left + ((now - budget.at) / 1_000) * PER_SECOND);
  }

  #forget(now: number): void {
    for (const [holder, budget] of this.#budgets) if (this.#leftAt(budget, now) === FULL) this.#budgets.delete(holder);
  }
}
