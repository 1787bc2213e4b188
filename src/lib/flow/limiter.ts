/** Thrown by `Limiter.run` when the queue is full. */
export class LimiterFull extends Error {
  constructor() {
    super('The queue is full.');
    this.name = 'LimiterFull';
  }
}

/** Runs a few tasks at a time and lets a few more wait, in order; beyond that it refuses at once. */
export class Limiter {
  readonly #limits: { readonly running: number; readonly waiting: number };
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: { readonly running: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** How many may run at a time. */
  get limit(): number {
    return this.#limits.running;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects with LimiterFull without having begun `task`; else settles as it does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.running) this.#running += 1;
    else if (this.#waiting.length >= this.#limits.waiting) throw new LimiterFull();
    // The finished task passes its slot to the next waiter, so that a newcomer cannot take it.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
