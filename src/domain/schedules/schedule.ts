import type { Cron } from 'croner';
import { Failure } from '../failure.ts';
import type { Action, JobActionKind } from '../rules/actions.ts';

/** Words of schedules, and the times at which they fall due. */

/** What a schedule does. There is no event to tell people of, so it always makes a job. */
export type ScheduledAction = Action<JobActionKind>;

/**
 * Where nobody names a time zone: machines of several zones may share one store, so it is never that of the machine.
 */
export const TIMEZONE_DEFAULT = 'UTC';
/** Longer lines say nothing that a shorter one can't. */
const CRON_CHARACTERS_MAX = 200;
const ZONE_CHARACTERS_MAX = 100;
/** An offset is no zone: it has no changes of the clock. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;
/** The field of the hours names every one of them. */
const EVERY_HOUR = /^(?:[*?](?:\/1)?|0?0-23(?:\/1)?)$/;
/** To be in the list all the same after the time that is given is stripped of what is below a second. */
const SECOND_MS = 1_000;
/**
 * A slot that was taken further ahead than this was taken while the clock was wrong: what it says about the times until
 * then is not believed. Smaller steps back are those of a restored machine or of a person, and nothing runs twice.
 */
const AHEAD_MAX_MS = 24 * 3_600_000;

/** The times of a cron line in a time zone. */
interface Timetable {
  /** With one space between its fields. */
  readonly cron: string;
  /** The name of the zone in its own letters. */
  readonly timezone: string;
  /** The first slot after a time, both in milliseconds since the epoch; null where there is none any more. */
  next(afterMs: number): number | null;
}

export type ReadTimetable = (cron: string, timezone: string) => Timetable;

/**
 * Loads what reads cron lines: 7 ms that only those wait for who have a schedule. The function throws invalid_argument
 * for a line that has not five fields, that can't be read or that never comes, and for an unknown time zone.
 *
 * A line tells times by the clock on the wall of its zone. Where that clock is set forward, the slots that it skips run
 * once, all together, at the moment at which it goes on. Where it is set back, what occurs twice runs the first time
 * only. A line that names every hour goes by the time that passes: it neither waits through an hour nor hurries.
 */
export async function timetableReader(): Promise<ReadTimetable> {
  const { Cron } = await import('croner');
  return (text, zone) => {
    const cron = checkedFields(text);
    const timezone = checkedZone(zone);
    // It counts in plain local times; which moments those are is decided below, since its own rule passes over slots.
    const line = readLine(cron, () => new Cron(cron, { mode: '5-part', utcOffset: 0, paused: true }));
    if (nextLocal(line, 0) === null)
      throw new Failure('invalid_argument', 'cron: there is no such day, so this would never run.');
    const byElapsed = EVERY_HOUR.test(cron.split(' ')[1] ?? '');
    return { cron, timezone, next: (afterMs) => (byElapsed ? nextElapsed : nextOnWall)(line, timezone, afterMs) };
  };
}

function checkedFields(text: string): string {
  const fields = text.trim().split(/\s+/);
  if (text.length > CRON_CHARACTERS_MAX)
    throw new Failure('invalid_argument', `cron: expected at most ${CRON_CHARACTERS_MAX} characters.`);
  if (fields.length === 5) return fields.join(' ');
  const seconds = fields.length === 6 ? ' There are no seconds.' : '';
  throw new Failure(
    'invalid_argument',
    'cron: expected five fields (minute, hour, day of the month, month, day of the week), such as "0 3 * * ' +
      `*".${seconds}`,
  );
}

function checkedZone(text: string): string {
  try {
    if (text.length <= ZONE_CHARACTERS_MAX && ZONE_NAME.test(text)) return zoned(0, text).timeZoneId;
  } catch {
    // Told below, in our words.
  }
  throw new Failure('invalid_argument', 'timezone: expected the name of a time zone, such as Europe/Berlin or UTC.');
}

function readLine(cron: string, read: () => Cron): Cron {
  try {
    return read();
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : 'it cannot be read';
    throw new Failure('invalid_argument', `cron: ${JSON.stringify(cron)}: ${why}.`);
  }
}

/** A local time as if its zone were UTC, in milliseconds: what the cron line counts in. */
function nextLocal(line: Cron, afterMs: number): number | null {
  return line.nextRun(new Date(afterMs))?.getTime() ?? null;
}

function zoned(ms: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
}

function offsetMs(at: Temporal.ZonedDateTime): number {
  return at.offsetNanoseconds / 1e6;
}

function nextOnWall(line: Cron, timezone: string, afterMs: number): number | null {
  let local: number | null = afterMs + offsetMs(zoned(afterMs, timezone));
  // More than once only in an hour that occurs the second time: its slots have been.
  for (;;) {
    local = nextLocal(line, local);
    if (local === null) return null;
    const at = momentOf(local, timezone);
    if (at > afterMs) return at;
  }
}

/** When the clock of the zone first shows a local time; where it never does, when it goes on behind it. */
function momentOf(local: number, timezone: string): number {
  const wanted = zoned(local, 'UTC').toPlainDateTime();
  const at = wanted.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const shown = at.toPlainDateTime().equals(wanted) ? at : at.getTimeZoneTransition('next');
  return (shown ?? at).epochMilliseconds;
}

/** Goes from one change of the clock to the next: in between, local time and time are the same but for an offset. */
function nextElapsed(line: Cron, timezone: string, afterMs: number): number | null {
  let from = zoned(afterMs, timezone);
  let fromMs = afterMs;
  for (;;) {
    const local = nextLocal(line, fromMs + offsetMs(from));
    if (local === null) return null;
    const at = local - offsetMs(from);
    const change = from.getTimeZoneTransition('next');
    if (change === null || at < change.epochMilliseconds) return at;
    from = change;
    fromMs = change.epochMilliseconds - SECOND_MS;
  }
}

/**
 * From when on the next slot counts, in milliseconds since the epoch, at `now`: the slot that was taken last counts as
 * run, also where the clock was set back behind it.
 */
export function countsFrom(now: number, lastAt: number | null): number {
  return lastAt === null || lastAt > now + AHEAD_MAX_MS ? now : Math.max(now, lastAt);
}
