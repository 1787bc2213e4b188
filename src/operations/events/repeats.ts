import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';

/** A sender that tries again does so within minutes; a template that stays broken is named once in this time. */
const REPEAT_MS = 3_600_000;
/** Above it the oldest is forgotten, and its next repeat is one more event. */
const KNOWN_MAX = 1_000;

/**
 * What was recorded of messages within an hour, so that a sender that sends the same again does not fill the list of
 * events: a repeat is counted by the doctor alone. It is in memory: after a restart a repeat is recorded once more.
 */
export class Repeats {
  readonly #clock: Clock;
  /** By when it was recorded, by the monotonic clock; the oldest first. */
  readonly #known = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `record` unless the same was recorded within the hour; `what` says what is the same. */
  async once(what: readonly (string | Buffer)[], record: () => Promise<unknown>): Promise<void> {
    const hash = createHash('sha256');
    for (const part of what) hash.update(`${part.length}:`).update(part);
    const key = hash.digest('base64');
    const now = this.#clock.monotonic();
    if (now - (this.#known.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    this.#known.delete(key);
    this.#known.set(key, now);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
    try {
      await record();
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }
}
