import { localTime, rfc3339 } from '../../lib/clock.ts';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** Beyond this a date is clearer than a count of days. */
const RELATIVE_MAX_S = 14 * DAY_S;

/** `3 min ago`, `in 2 h`; the date where it is further away. Null is a dash. */
export function relative(at: string | null, nowMs: number): string {
  if (at === null) return '-';
  const seconds = Math.round((nowMs - Date.parse(at)) / 1000);
  if (Number.isNaN(seconds)) return at;
  const away = Math.abs(seconds);
  if (away >= RELATIVE_MAX_S) return at.slice(0, 10);
  if (away < 2) return 'now';
  return seconds > 0 ? `${span(away)} ago` : `in ${span(away)}`;
}

/** The time itself, and how far away it is. */
export function absolute(at: string | null, nowMs: number): string {
  return at === null ? '-' : `${at} (${relative(at, nowMs)})`;
}

/** The time in its own zone, and how far away it is: `2026-11-24 03:00 +01:00 (in 3 h)`. */
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

/** How long something took: `41 s`, `1 min 12 s`, `2 h 5 min`. */
export function took(fromAt: string | null, toAt: string | null, nowMs: number): string {
  if (fromAt === null) return '-';
  const seconds = Math.max(0, Math.round(((toAt === null ? nowMs : Date.parse(toAt)) - Date.parse(fromAt)) / 1000));
  if (seconds < MINUTE_S) return `${seconds} s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ${seconds % MINUTE_S} s`;
  return hoursAndMinutes(seconds);
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

/** `24 min left`, `1 h 5 min left`, `3 days left`: rounded down, so that no one relies on time that is not left. */
export function timeLeft(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < MINUTE_S) return 'less than a minute left';
  if (seconds < HOUR_S) return `${span(seconds)} left`;
  // From two days on minutes do not matter.
  return `${seconds < 2 * DAY_S ? hoursAndMinutes(seconds) : span(seconds)} left`;
}

function hoursAndMinutes(seconds: number): string {
  return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`;
}

function span(seconds: number): string {
  if (seconds < MINUTE_S) return `${seconds} s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min`;
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h`;
  const days = Math.floor(seconds / DAY_S);
  return days === 1 ? '1 day' : `${days} days`;
}
