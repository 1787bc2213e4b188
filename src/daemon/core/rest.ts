import type { Clock } from '../../lib/clock.ts';

/**
 * Loops that are made each second or less often are due at the same moments, so that an idle process wakes up once a
 * second and not once for each loop.
 */
const TOGETHER_MS = 1_000;
/** A loop that rests until a moment is woken this long before it: its next pass is due within its interval then. */
const NEAR_MS = 1_500;
/** Passes go on this long after a commit, as a row may have to reach an age first. */
const AFTER_COMMIT_MS = 10_000;
/** And from then on a pass is made at least this often. */
const RESTING_EVERY_MS = 30_000;
/** The time of day that moved this much against the monotonic one within a second was set. */
const JUMP_MS = 50;

/** The milliseconds of a wait of about `ms`, to a moment that loops have in common. */
export function together(clock: Clock, ms: number): number {
  if (ms < TOGETHER_MS) return ms;
  const now = clock.monotonic();
  return Math.round((now + ms) / TOGETHER_MS) * TOGETHER_MS - now;
}

/** A loop between two passes. Times are monotonic, in milliseconds. */
interface Sleeper {
  /** When its last pass began: what is committed during a pass is found by the next one. */
  readonly passAt: number;
  readonly everyMs: number;
  /** What it waits for; Infinity for nothing but a commit. */
  readonly dueAt: number;
  readonly ring: () => void;
}

/**
 * The rest of the loops of a daemon of which a pass finds nothing new without a commit: one look a second at the
 * counter of commits for all of them. A pass is made when its time comes, after a commit, after the time of day was
 * set, and each 30 s.
 */
export class Rest {
  readonly #clock: Clock;
  readonly #version: () => string | null;
  readonly #sleepers = new Set<Sleeper>();
  #seen: string | null = null;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The time of day minus the monotonic one, at the last look. */
  #ahead: number | null = null;
  #cancel: (() => void) | null = null;

  /** `version` gives another text after each commit, null where there is no cheap way to tell: then nothing rests. */
  constructor(clock: Clock, version: () => string | null) {
    this.#clock = clock;
    this.#version = version;
  }

  /** Rings once when the next pass is to be made. The result ends the wait. */
  wait(sleeper: Sleeper): () => void {
    this.#sleepers.add(sleeper);
    if (this.#cancel === null) this.#lookLater();
    return () => {
      this.#sleepers.delete(sleeper);
      if (this.#sleepers.size > 0) return;
      this.#cancel?.();
      this.#cancel = null;
    };
  }

  #lookLater(): void {
    this.#cancel = this.#clock.after(together(this.#clock, TOGETHER_MS), () => this.#look());
  }

  #look(): void {
    this.#cancel = null;
    const now = this.#clock.monotonic();
    if (this.#isChanged(now)) this.#changedAt = now;
    const isAwake = now - this.#changedAt <= AFTER_COMMIT_MS;
    for (const sleeper of this.#sleepers) {
      const { passAt, everyMs, dueAt, ring } = sleeper;
      // Half a second early is a pass at the moment that is nearest.
      const isOld = now - passAt > (isAwake || passAt < this.#changedAt ? everyMs : RESTING_EVERY_MS) - TOGETHER_MS / 2;
      if (!isOld && dueAt - now >= NEAR_MS) continue;
      this.#sleepers.delete(sleeper);
      ring();
    }
    if (this.#sleepers.size > 0) this.#lookLater();
  }

  #isChanged(now: number): boolean {
    const before = { version: this.#seen, ahead: this.#ahead };
    this.#seen = this.#ask();
    this.#ahead = this.#clock.now() - now;
    if (this.#seen === null || this.#seen !== before.version) return true;
    return before.ahead !== null && Math.abs(this.#ahead - before.ahead) > JUMP_MS;
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
