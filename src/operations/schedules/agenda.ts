import * as z from 'zod';
import { READERS } from '../../domain/access/scope.ts';
import { type ReadTimetable, timetableReader } from '../../domain/schedules/schedule.ts';
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
  cli: { verb: 'schedule agenda', examples: ['svc schedule agenda', 'svc schedule agenda --days 14'] },
  input: z.strictObject({
    days: z.int().min(1).max(DAYS_MAX).default(DAYS).describe(`Days from now; at most ${DAYS_MAX}`),
  }),
  answers: ['schedule.agenda'],
  async run({ store, services }, { days }) {
    const now = await store.dialect.clock(store.db, services.clock.now());
    const enabled = (await listSchedules(store.db)).filter(({ enabled: on }) => on === 1);
    const read = await timetableReader();
    const slots: Slot[] = [];
    for (const schedule of enabled) {
      slots.push(...slotsOf(schedule, read, { now, until: now + days * DAY_MS }));
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
      })),
      left_out: slots.length - shown.length,
    });
  },
});

/** From the stored next slot on: one that is due and not taken yet comes first. */
function slotsOf(schedule: ScheduleRow, read: ReadTimetable, { now, until }: { now: number; until: number }): Slot[] {
  const timetable = read(schedule.cron, schedule.timezone);
  const slots: { schedule: ScheduleRow; at: number; more: boolean }[] = [];
  let at = schedule.next_at;
  for (; at !== null && at < until && slots.length < RUNS_EACH; at = timetable.next(Math.max(at, now)))
    slots.push({ schedule, at, more: false });
  const last = slots.at(-1);
  if (last !== undefined) last.more = at !== null && at < until;
  return slots;
}

export const AGENDA_OPERATIONS = [agenda];
