import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';

/** Thousands of probes fail at once where this machine lacks something: one line of the log says it each minute. */
const LOG_EVERY_MS = 60_000;
/** Of a reason that the doctor shows. */
const REASON_CHARACTERS_MAX = 300;

/** Faults of this machine or program that prevented probes. */
export class ProbeFaults {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #onError: (error: unknown) => void;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor({ clock, onError }: { clock: Pick<Clock, 'monotonic'>; onError: (error: unknown) => void }) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Logs it, unless one was logged within the last minute. Returns what the doctor says of it. */
  note(check: string, error: unknown): string {
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_EVERY_MS) this.#unlogged += 1;
    else {
      const more = this.#unlogged === 0 ? '' : `, and ${this.#unlogged} others since the last such line`;
      this.#onError(new Error(`a probe of the check ${check} could not be made${more}`, { cause: error }));
      this.#loggedAt = now;
      this.#unlogged = 0;
    }
    if (error instanceof Failure) return error.message.slice(0, REASON_CHARACTERS_MAX);
    return 'a fault of the service, see its log';
  }
}
