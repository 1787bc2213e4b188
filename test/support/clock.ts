import type { Clock } from '../../src/lib/clock.ts';

/** A clock that moves only by hand. Timers fire when monotonic time has reached them. */
export class HandClock implements Clock {
  wallMs: number;
  monotonicMs = 1_000;
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();

  /** Begins at this time, in milliseconds since the epoch. */
  constructor(wallMs: number = Date.UTC(2026, 10, 21, 12)) {
    this.wallMs = wallMs;
  }

  /** How many timers have neither fired nor been cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.wallMs;
  }

  monotonic(): number {
    return this.monotonicMs;
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.monotonicMs + ms, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves both times, as time does. */
  advance(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.monotonicMs)) {
      // One that fired before it may have cancelled it.
      if (this.#timers.delete(timer)) timer.fire();
    }
  }
}
