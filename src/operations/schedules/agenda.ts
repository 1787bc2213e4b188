import * as z from 'zod';
import { READERS } from '../../domain/access/scope.ts';
import { beginOf, clockSetOn, dayFrom } from '../../domain/schedules/days.ts';
import { type ReadTimetable, timetableReader } from '../../domain/schedules/timetable.ts';
import { localTime, rfc3339 } from '../../lib/clock.ts';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import { listSchedules } from '../../store/schedules/schedules.ts';
import type { ScheduleRow } from '../../store/schema/schema.ts';
import { localOnly, readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

const DAY_MS = 86_400_000;
const DAYS = 7;
const DAYS_MAX = 31;
/** A schedule of every minute must not hide the others. */
const RUNS_EACH = 24;
const RUNS_MAX = 500;

interface Slot {
  readonly schedule: ScheduleRow;
  readonly at: number;
  /** Whether it is the last one shown of its schedule, and more follow in these days. */
  readonly more: boolean;
}

const agenda = readOperation({
  id: 'schedule.agenda',
  summary: 'Show when the schedules run in the coming days',
  scopes: READERS,
  ...localOnly('GET /schedules has the next run of each schedule.'),
  cli: { verb: 'schedule agenda', examples: ['svc schedule agenda', 'svc schedule agenda --from 2027-03-28 --days 1'] },
  input: z.strictObject({
    days: z.int().min(1).max(DAYS_MAX).default(DAYS).describe(`Number of days; at most ${DAYS_MAX}`),
    from: z.string().optional().describe('First day, such as 2027-03-28; default now'),
  }),
  answers: ['schedule.agenda'],
  failures: ['invalid_argument'],
  async run({ store, services }, { days, from }) {
    const now = await store.dialect.clock(store.db, services.clock.now());
    const day = from === undefined ? null : dayFrom(from, now);
    const enabled = (await listSchedules(store.db)).filter(({ enabled: on }) => on === 1);
    const read = await timetableReader();
    const slots: Slot[] = [];
    for (const schedule of enabled) {
      slots.push(...slotsOf(schedule, read, { now, ...spanOf(day, days, now, schedule.timezone) }));
      await requestTurn();
    }
    const shown = slots.toSorted((a, b) => a.at - b.at).slice(0, RUNS_MAX);
    return reply('schedule.agenda', {
      days,
      runs: shown.map(({ schedule, at, more }) => ({
        at: rfc3339(at),
        local: localTime(at, schedule.timezone),
        timezone: schedule.timezone,
        name: schedule.name,
        runbook: schedule.runbook,
        ...(more ? { more } : {}),
        ...clockMark(at, schedule.timezone),
      })),
      left_out: slots.length - shown.length,
    });
  },
});

interface Span {
  /** Null from the stored next slot on: one that is due and not taken yet comes first. */
  readonly from: number | null;
  readonly until: number;
}

function spanOf(day: Temporal.PlainDate | null, days: number, now: number, timezone: string): Span {
  if (day === null) return { from: null, until: now + days * DAY_MS };
  return { from: beginOf(day, timezone), until: beginOf(day.add({ days }), timezone) };
}

function clockMark(at: number, timezone: string): { clock_set?: 'forward' | 'back' } {
  const set = clockSetOn(at, timezone);
  return set === null ? {} : { clock_set: set };
}

/** None of a schedule without a next slot: its line never comes, or its zone is unknown to this version. */
function slotsOf(
  schedule: ScheduleRow,
  read: ReadTimetable,
  { now, from, until }: Span & { readonly now: number },
): Slot[] {
  if (schedule.next_at === null) return [];
  const timetable = read(schedule.cron, schedule.timezone);
  const slots: { schedule: ScheduleRow; at: number; more: boolean }[] = [];
  let at = from === null || from <= now ? schedule.next_at : timetable.next(from - 1);
  for (; at !== null && at < until && slots.length < RUNS_EACH; at = timetable.next(Math.max(at, now)))
    slots.push({ schedule, at, more: false });
  const last = slots.at(-1);
  if (last !== undefined) last.more = at !== null && at < until;
  return slots;
}

export const AGENDA_OPERATIONS = [agenda];
