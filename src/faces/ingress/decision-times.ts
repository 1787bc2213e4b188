import { rfc3339 } from '../../lib/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MIN = 60;
const DAY_MIN = 1_440;
/** From here on minutes say nothing more. */
const DAYS_FROM_MIN = 2 * DAY_MIN;

/**
 * `14:03:40 UTC`, or `14:03 UTC` to the minute; with the date where that is not the one of `now`. Milliseconds since
 * the epoch.
 */
export function clockTime(ms: number, now: number, to: 'seconds' | 'minutes' = 'seconds'): string {
  const [date = '', time = ''] = rfc3339(ms).split('T');
  const day = rfc3339(now).startsWith(date) ? '' : `${date} `;
  return `${day}${time.slice(0, to === 'seconds' ? 8 : 5)} UTC`;
}

/** `24 min left`, `1 h 5 min left`, `3 days left`: rounded down, so that nobody counts on time that is not there. */
export function timeLeft(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return 'less than a minute left';
  if (minutes < HOUR_MIN) return `${minutes} min left`;
  if (minutes < DAYS_FROM_MIN) return `${Math.floor(minutes / HOUR_MIN)} h ${minutes % HOUR_MIN} min left`;
  return `${Math.floor(minutes / DAY_MIN)} days left`;
}
