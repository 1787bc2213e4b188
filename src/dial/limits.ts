import { formatDuration } from '../domain/duration.ts';
import type { Clock } from '../lib/clock.ts';
import { DialFailed } from './dial-failed.ts';

/** Until the connection is open, with name resolution and TLS. */
export const CONNECT_MS = 3_000;
/** A whole send: ends a server that sends a byte a second. */
export const TOTAL_MS = 10_000;

/** Ends a send when its total time or that of a step is over; `reached` says which. */
export class Limit {
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #total: () => void;
  #step: () => void = () => undefined;
  reached: DialFailed | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#total = clock.after(TOTAL_MS, () => this.#end(`not done within ${formatDuration(TOTAL_MS)}`));
  }

  /** Aborts when a limit is reached, and when the send has ended. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins a step and ends the previous one. */
  set(ms: number, what: string): void {
    this.#step();
    this.#step = this.#clock.after(ms, () => this.#end(`${what} within ${formatDuration(ms)}`));
  }

  /** Ends the step; only the total limit remains. */
  unset(): void {
    this.#step();
  }

  /** The result of `work`; rejects at a limit, even if `work` ignores the signal. */
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

  /** Ends the send. */
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
