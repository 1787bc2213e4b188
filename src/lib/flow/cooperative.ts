import type { Clock } from '../clock.ts';

/** Work may keep the event loop for so long before requests and timers have their turn, in milliseconds. */
const TURN_MS = 3;

/** Resolves when requests and timers had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** For one long work that is alone with the event loop: `if (breather.isDue) await breather.breathe()`. */
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

  /** Resolves when others had their turn. */
  async breathe(): Promise<void> {
    await nextTurn();
    this.#until = this.#clock.monotonic() + TURN_MS;
  }
}

interface Work {
  /** Does the next piece; false when that was the last one. Never throws. */
  step(): boolean;
}

/**
 * Works that wait for nothing, many at once, in pieces: together they keep the event loop for TURN_MS at a time, and
 * each has a piece done in its turn. Without this, 25 works that each let others go first after 10 ms keep the loop for
 * 250 ms, because all of them go on in the same turn.
 */
export class TaskSlicer {
  readonly #clock: Clock;
  #works: Work[] = [];
  /** When this turn's time is over; null before anything was done in it. */
  #until: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * As `items.map(piece)`. The first pieces are done at once where this turn has time left. Rejects with what `piece`
   * throws.
   */
  each<T, R>(items: readonly T[], piece: (item: T) => R): Promise<R[]> {
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
      this.#works.push({ step });
      // Somebody else who waits was here before.
      if (this.#works.length === 1) this.#go();
    });
  }

  #go(): void {
    if (this.#until === null) {
      this.#until = this.#clock.monotonic() + TURN_MS;
      setImmediate(() => {
        this.#until = null;
        if (this.#works.length > 0) this.#go();
      });
    }
    while (this.#works.length > 0 && this.#clock.monotonic() < this.#until) {
      const work = this.#works.shift();
      if (work?.step() === true) this.#works.push(work);
    }
  }
}
