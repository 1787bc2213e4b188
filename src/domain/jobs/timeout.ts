import { readDuration, requireDuration } from '../duration.ts';

/** Milliseconds; a job without a time-out gets the default. */
const DEFAULT_MS = 3_600_000;
const MIN_MS = 1_000;
const MAX_MS = 7 * 86_400_000;

/** The time-out of a job, in milliseconds. Throws invalid_argument that names the field `timeout`. */
export function jobTimeoutMs(text: string | null | undefined): number {
  return text === null || text === undefined ? DEFAULT_MS : requireDuration('timeout', text, MIN_MS, MAX_MS);
}

export function readJobTimeout(text: string): ReturnType<typeof readDuration> {
  return readDuration(text, MIN_MS, MAX_MS);
}
