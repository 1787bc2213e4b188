import { shortDuration } from '../../domain/duration.ts';
import { localTime, rfc3339 } from '../../lib/clock.ts';

const SECOND_MS = 1_000;
/** Beyond this a date is clearer than a count of days. */
const RELATIVE_MAX_MS = 14 * 86_400_000;

/** `3m ago`, `in 2h`; the date where it is further away. Null is a dash. */
export function relative(at: string | null, nowMs: number): string {
  if (at === null) return '-';
  const sinceMs = Math.round((nowMs - Date.parse(at)) / SECOND_MS) * SECOND_MS;
  if (Number.isNaN(sinceMs)) return at;
  const awayMs = Math.abs(sinceMs);
  if (awayMs >= RELATIVE_MAX_MS) return at.slice(0, 10);
  if (awayMs < 2 * SECOND_MS) return 'now';
  const away = shortDuration(awayMs, 1);
  return sinceMs > 0 ? `${away} ago` : `in ${away}`;
}

/** The time itself, and how far away it is. */
export function absolute(at: string | null, nowMs: number): string {
  return at === null ? '-' : `${at} (${relative(at, nowMs)})`;
}

/** The time in its own zone, and how far away it is: `2026-11-24 03:00 +01:00 (in 3h)`. */
export function zoned(at: string | null, timezone: string, nowMs: number): string {
  if (at === null) return '-';
  try {
    return `${localTime(Date.parse(at), timezone)} (${relative(at, nowMs)})`;
  } catch (error) {
    // A zone that this machine does not know: the server has newer ones.
    if (error instanceof RangeError) return absolute(at, nowMs);
    throw error;
  }
}

/** How long something took, in whole seconds: `41s`, `1m12s`, `2h5m`. */
export function took(fromAt: string | null, toAt: string | null, nowMs: number): string {
  if (fromAt === null) return '-';
  const tookMs = (toAt === null ? nowMs : Date.parse(toAt)) - Date.parse(fromAt);
  return shortDuration(Math.max(0, Math.round(tookMs / SECOND_MS) * SECOND_MS));
}

/**
 * `14:03:40 UTC`, or `14:03 UTC` to the minute; with the date where that is not the one of `now`. Milliseconds since
 * the epoch.
 */
export function clockTime(ms: number, now: number, to: 'seconds' | 'minutes' = 'seconds'): string {
  const [date = '', time = ''] = rfc3339(ms).split('T');
  const day = rfc3339(now).startsWith(date) ? '' : `${date} `;
  return `${day}${time.slice(0, to === 'seconds' ? 8 : 5)} UTC`;
}

/**
 * To the minute, with the time in the zone of the readers: `14:03 UTC (15:03 +01:00)`, with the date there where it is
 * another day.
 */
export function timeHere(ms: number, now: number, timezone: string): string {
  const utc = clockTime(ms, now, 'minutes');
  const [date = '', time = '', offset = ''] = localTime(ms, timezone).split(' ');
  if (offset === '+00:00') return utc;
  const day = rfc3339(ms).startsWith(date) ? '' : `${date} `;
  return `${utc} (${day}${time} ${offset})`;
}
