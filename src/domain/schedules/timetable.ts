import type { Cron } from 'croner';
import { Failure } from '../failure.ts';

/** Cron lines in time zones, and the times that they name. */

/** The default time zone. Machines in several zones may share one store, so it is never the zone of the machine. */
export const TIMEZONE_DEFAULT = 'UTC';
/** Longer lines say nothing that a shorter one can't. */
const CRON_CHARACTERS_MAX = 200;
const ZONE_CHARACTERS_MAX = 100;
/** An offset is no zone: it has no changes of the clock. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;
/** The field of the hours names every one of them. */
const EVERY_HOUR = /^(?:[*?](?:\/1)?|0?0-23(?:\/1)?)$/;
/** A field of days that restricts nothing by itself, also with a step: as in Vixie cron, Debian's cron and cronie. */
const STARRED = /^[*?]/;
const EVERY_DAY = /^[*?]$/;
/** To be in the list all the same after the time that is given is stripped of what is below a second. */
const SECOND_MS = 1_000;

/** The times of a cron line in a time zone. */
interface Timetable {
  /** With one space between its fields. */
  readonly cron: string;
  /** The name of the zone in its own letters. */
  readonly timezone: string;
  /** The first slot after a time, both in milliseconds since the epoch; null if no slot follows. */
  next(afterMs: number): number | null;
}

export type ReadTimetable = (cron: string, timezone: string) => Timetable;

/**
 * Loads the parser of cron lines: 7 ms that only installations with a schedule pay. The function throws
 * invalid_argument for a line without five fields, one that cannot be parsed or that never occurs, and for an unknown
 * time zone.
 *
 * A line gives local times of its zone. When the local clock is set forward, the skipped slots run once, all together,
 * at the first moment after the gap. When it is set back, a slot that occurs twice runs the first time only. A line for
 * every hour follows elapsed time: it neither skips nor repeats an hour.
 */
export async function timetableReader(): Promise<ReadTimetable> {
  const { Cron } = await import('croner');
  return (text, zone) => {
    const cron = checkedFields(text);
    const timezone = checkedZone(zone);
    // The library counts in plain local times. They are mapped to moments below, because its own mapping skips slots.
    const domAndDow = needsBothDays(cron);
    const line = readLine(cron, () => new Cron(cron, { mode: '5-part', utcOffset: 0, paused: true, domAndDow }));
    if (nextLocal(line, 0) === null)
      throw new Failure('invalid_argument', 'cron: no such day exists, so this would never run.');
    const byElapsed = EVERY_HOUR.test(cron.split(' ')[1] ?? '');
    return { cron, timezone, next: (afterMs) => (byElapsed ? nextElapsed : nextOnWall)(line, timezone, afterMs) };
  };
}

/** Whether a day has to be in both fields of days; else either one is enough. */
function needsBothDays(cron: string): boolean {
  const [, , ofMonth = '', , ofWeek = ''] = cron.split(' ');
  return STARRED.test(ofMonth) || STARRED.test(ofWeek);
}

/** Whether earlier builds ran the line on more days: there a star with a step restricted like any other field. */
export function ranOnMoreDays(cron: string): boolean {
  const [, , ofMonth = '', , ofWeek = ''] = cron.split(' ');
  return needsBothDays(cron) && ![ofMonth, ofWeek].some((field) => EVERY_DAY.test(field));
}

function checkedFields(text: string): string {
  const fields = text.trim().split(/\s+/);
  if (text.length > CRON_CHARACTERS_MAX)
    throw new Failure('invalid_argument', `cron: expected at most ${CRON_CHARACTERS_MAX} characters.`);
  if (fields.length === 5) return fields.join(' ');
  const seconds = fields.length === 6 ? ' Seconds are not supported.' : '';
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
    // Reported below.
  }
  throw new Failure('invalid_argument', 'timezone: expected the name of a time zone, such as Europe/Berlin or UTC.');
}

function readLine(cron: string, read: () => Cron): Cron {
  try {
    return read();
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : 'it cannot be parsed';
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
  // Loops only in an hour that occurs the second time: its slots have run.
  for (;;) {
    local = nextLocal(line, local);
    if (local === null) return null;
    const at = momentOf(local, timezone);
    if (at > afterMs) return at;
  }
}

/** The first moment of a local time in the zone; for a skipped local time, the first moment after the gap. */
function momentOf(local: number, timezone: string): number {
  const wanted = zoned(local, 'UTC').toPlainDateTime();
  const at = wanted.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const shown = at.toPlainDateTime().equals(wanted) ? at : at.getTimeZoneTransition('next');
  return (shown ?? at).epochMilliseconds;
}

/** Walks from one change of the clock to the next: in between, local time has a constant offset. */
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
