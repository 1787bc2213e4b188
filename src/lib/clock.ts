/**
 * The only source of time, so that tests can replace it. Wall time is for records, monotonic time for time-outs and
 * leases: a clock that jumps must neither end a job early nor keep it for ever.
 */
export interface Clock {
  /** Milliseconds since the epoch, UTC. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary point. Never jumps. */
  monotonic(): number;
  /** Calls `fire` once after `ms` milliseconds; the result cancels it. The timer keeps no process alive. */
  after(ms: number, fire: () => void): () => void;
}

/**
 * How far the clocks of machines that share a store may differ, in milliseconds. A stored time of the past that is
 * further ahead than this is of a clock that was set back since. The doctor warns of a difference of a second.
 */
export const CLOCKS_APART_MS = 60_000;

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not performance.now(): its module is loaded with the first call, for 3 % of the start of a verb.
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1_000_000;
  },
  after(ms, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The time of day in a zone, with its offset: `2026-11-24 03:00 +01:00`. */
export function localTime(ms: number, timezone: string): string {
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  return `${at.toPlainDate().toString()} ${at.toPlainTime().toString({ smallestUnit: 'minute' })} ${at.offset}`;
}

/** Waits `ms` milliseconds. Resolves to false at once when `signal` is or gets aborted, else to true. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve(true);
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** RFC 3339, UTC, milliseconds and `Z`: the one form of a time on the wire. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString();
}

/** Long enough that it never matters, short enough for a timer. */
const HOLD_TICK_MS = 3_600_000;

/** Keeps the process alive until the result is called, as no timer of the clock does: for unfinished work. */
export function holdProcess(): () => void {
  const timer = setInterval(() => undefined, HOLD_TICK_MS);
  return () => clearInterval(timer);
}
