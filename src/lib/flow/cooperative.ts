import type { Clock } from '../clock.ts';
import { currentHolder } from './in-name-of.ts';

/** The longest time that work may hold the event loop before it yields to requests and timers, in milliseconds. */
const TURN_MS = 3;

/** Yields to requests and timers. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * The same, for work of one request: it continues when it is the turn of its token or peer, and rejects when its client
 * has gone. Not for work that other requests or the daemon wait for, such as a transaction or a value that is kept.
 */
export function requestTurn(): Promise<void> {
  return currentHolder()?.next() ?? nextTurn();
}

/** For a single long task: `if (breather.isDue) await breather.breathe()`. */
export class YieldTimer {
  readonly #clock: Clock;
  #until: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#until = clock.monotonic() + TURN_MS;
  }

  get isDue(): boolean {
    return this.#clock.monotonic() >= this.#until;
  }

  /** Yields to other work. */
  async breathe(): Promise<void> {
    await nextTurn();
    this.#until = this.#clock.monotonic() + TURN_MS;
  }
}

/**
 * Runs many CPU-bound tasks in slices, round robin: together they hold the event loop for TURN_MS at a time. Without
 * this, 25 tasks that each yield after 10 ms hold the loop for 250 ms, because all of them resume in the same turn.
 */
export class TaskSlicer {
  readonly #clock: Clock;
  /** Each does the next piece of its task; false after the last one. Never throws. */
  #steps: (() => boolean)[] = [];
  /** When this turn's time is over; null before anything was done in it. */
  #until: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `items.map(piece)`. Begins at once if this turn has time left. Rejects with what `piece` throws. */
  each<T, R>(items: readonly T[], piece: (item: T) => R): Promise<R[]> {
    // Most tasks are one piece, and no other one waits.
    if (items.length === 1 && this.#steps.length === 0 && this.#hasTime()) return Promise.try(() => items.map(piece));
    return new Promise((resolve, reject) => {
      const done: R[] = [];
      const rest = items[Symbol.iterator]();
      const step = (): boolean => {
        try {
          const next = rest.next();
          if (next.done !== true) done.push(piece(next.value));
          if (done.length < items.length) return true;
          resolve(done);
        } catch (error) {
          reject(error);
        }
        return false;
      };
      this.#steps.push(step);
      // Another task has been waiting longer.
      if (this.#steps.length === 1) this.#go();
    });
  }

  #go(): void {
    while (this.#steps.length > 0 && this.#hasTime()) {
      const step = this.#steps.shift();
      if (step?.() === true) this.#steps.push(step);
    }
  }

  /** Whether something may still be done in this turn. The next turn continues with what is left. */
  #hasTime(): boolean {
    const now = this.#clock.monotonic();
    if (this.#until === null) {
      this.#until = now + TURN_MS;
      setImmediate(() => {
        this.#until = null;
        if (this.#steps.length > 0) this.#go();
      });
    }
    return now < this.#until;
  }
}
