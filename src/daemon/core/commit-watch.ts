import type { Clock } from '../../lib/clock.ts';
import { type Loop, type LoopOptions, startLoop } from './loop.ts';

const EVERY_MS = 1_000;
/** A pass may find a row only when that has reached an age, so passes go on for this long after a commit. */
const AFTER_COMMIT_MS = 10_000;
/** The time of day that moved this much against the monotonic one between two looks was set. */
const JUMP_MS = 50;

/**
 * A loop that wakes others of which a pass finds nothing new without a commit: it looks each second at the counter of
 * commits. `version` gives another text after each commit; null where there is no cheap way to tell.
 */
export function watchCommits(
  version: () => string | null,
  resting: readonly Loop[],
  options: Pick<LoopOptions, 'clock' | 'onError'>,
): Loop {
  const watch = new CommitWatch(options.clock, version);
  const once = async (): Promise<void> => {
    if (watch.look()) for (const loop of resting) loop.wakeIfDue();
  };
  return startLoop({ ...options, name: 'commits', everyMs: EVERY_MS, once });
}

class CommitWatch {
  readonly #clock: Clock;
  readonly #version: () => string | null;
  #seen: string | null = null;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The time of day minus the monotonic one, at the last look. */
  #ahead: number | null = null;

  constructor(clock: Clock, version: () => string | null) {
    this.#clock = clock;
    this.#version = version;
  }

  /** True for 10 s after a commit and after the time of day was set, and always without a counter of commits. */
  look(): boolean {
    const now = this.#clock.monotonic();
    const before = { version: this.#seen, ahead: this.#ahead };
    this.#seen = this.#ask();
    this.#ahead = this.#clock.now() - now;
    const isSet = before.ahead !== null && Math.abs(this.#ahead - before.ahead) > JUMP_MS;
    if (this.#seen === null || this.#seen !== before.version || isSet) this.#changedAt = now;
    return now - this.#changedAt <= AFTER_COMMIT_MS;
  }

  /** A store that cannot answer is no reason to rest: the pass finds its fault. */
  #ask(): string | null {
    try {
      return this.#version();
    } catch {
      return null;
    }
  }
}
