import type { Clock } from '../lib/clock.ts';
import { DialFailed } from './guard.ts';

/** Until the connection is there, the name resolved and TLS included. */
export const CONNECT_MS = 3_000;
/** One send in all: a server that says a byte a second ends here. */
export const TOTAL_MS = 10_000;

/** Ends a send when its time is up, or that of one step; which time that was is told in `reached`. */
export class Limit {
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #total: () => void;
  #step: () => void = () => undefined;
  reached: DialFailed | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#total = clock.after(TOTAL_MS, () => this.#end(`not done within ${TOTAL_MS / 1_000} s`));
  }

  /** Aborted when a time is up, and when the send has ended. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins a step, in place of the one before. */
  set(ms: number, what: string): void {
    this.#step();
    this.#step = this.#clock.after(ms, () => this.#end(`${what} within ${ms / 1_000} s`));
  }

  /** Ends the step; only the time of the whole send goes on. */
  unset(): void {
    this.#step();
  }

  /** What `work` answers; rejects when a time is up, also where the work takes no notice of it. */
  async during<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    const ended = Promise.withResolvers<never>();
    const stop = (): void => ended.reject(this.reached ?? new DialFailed('the send was ended'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([work, ended.promise]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Ends what is still open. */
  close(): void {
    this.#step();
    this.#total();
    this.#ending.abort();
  }

  #end(why: string): void {
    this.reached ??= new DialFailed(why);
    this.#ending.abort();
  }
}
