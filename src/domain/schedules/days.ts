import { Failure } from '../failure.ts';

/** Days as the agenda of schedules has them: each begins at midnight in the zone of a schedule. */

/** How far ahead a day may be: later changes of the clocks are not known. */
const YEARS_MAX = 10;

/** A day from today on, as UTC has it, written as 2027-03-28. Throws invalid_argument for any other text. */
export function dayFrom(text: string, nowMs: number): Temporal.PlainDate {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO('UTC').toPlainDate();
  const day = plainDate(text);
  const last = today.add({ years: YEARS_MAX });
  if (day !== null && Temporal.PlainDate.compare(day, today) >= 0 && Temporal.PlainDate.compare(day, last) <= 0)
    return day;
  throw new Failure(
    'invalid_argument',
    `from: expected a day of the next ${YEARS_MAX} years, from ${today.toString()} to ${last.toString()}.`,
  );
}

function plainDate(text: string): Temporal.PlainDate | null {
  try {
    return /^\d{4}-\d\d-\d\d$/.test(text) ? Temporal.PlainDate.from(text, { overflow: 'reject' }) : null;
  } catch {
    return null;
  }
}

/** When the day begins in a zone, in milliseconds since the epoch. */
export function beginOf(day: Temporal.PlainDate, timezone: string): number {
  return day.toZonedDateTime(timezone).epochMilliseconds;
}

/** How the clock of a zone is set on the day of this time; null on any other day. */
export function clockSetOn(ms: number, timezone: string): 'forward' | 'back' | null {
  const { hoursInDay } = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  return hoursInDay === 24 ? null : hoursInDay < 24 ? 'forward' : 'back';
}
