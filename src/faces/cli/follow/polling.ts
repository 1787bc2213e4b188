import { parseDuration } from '../../../domain/duration.ts';
import { Failure } from '../../../domain/failure.ts';
import { type Clock, pause } from '../../../lib/clock.ts';
import { UsageFailure } from '../syntax/usage.ts';

/** The first polls follow quickly, because many jobs are short; the later ones are rare, to spare the server. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Polls that may fail in a row while a daemon restarts. */
const FAILED_LOOKS_MAX = 10;

interface Polling {
  readonly clock: Clock;
  /** Monotonic, in milliseconds. `look` knows it too, and throws once it has passed. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/**
 * Calls `look` until it answers something else than `again`, and resolves to that; to null once `signal` aborts. The
 * next pause is short again where `look` answers `changed`. Throws what the first look throws, and what a later one
 * throws except a few `unavailable` in a row.
 */
export async function pollUntil<T extends object>(
  { clock, deadline, signal }: Polling,
  look: () => Promise<T | 'again' | 'changed'>,
): Promise<T | null> {
  let pauseMs = FIRST_PAUSE_MS;
  let failed = 0;
  for (let known = false; ; known = true) {
    try {
      const seen = await look();
      failed = 0;
      if (typeof seen === 'object') return seen;
      if (seen === 'changed') pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      failed += 1;
      const passes = error instanceof Failure && error.code === 'unavailable' && clock.monotonic() < deadline;
      if (!known || !passes || failed > FAILED_LOOKS_MAX) throw error;
    }
    const left = Math.max(0, deadline - clock.monotonic());
    if (!(await pause(clock, Math.min(pauseMs, left), signal))) return null;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** When `--timeout` ends the wait, on the monotonic clock; never without it. Throws UsageFailure with `help`. */
export function readDeadline(timeout: string | undefined, clock: Clock, help: string): number {
  if (timeout === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(timeout);
  if (ms === null) throw new UsageFailure('--timeout: expected a duration such as 30s, 5m or 1h30m.', help);
  return clock.monotonic() + ms;
}
