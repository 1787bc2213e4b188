import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative, zoned } from '../../text/time.ts';

type Schedule = Projected<'schedule.get'>;
type Listed = Projected<'schedule.list'>[number];

/** Why a past slot queued no job. */
function lastJob({ last_at: at, last_job_id: job, last_refusal: refusal }: Listed): string {
  if (job !== null) return job;
  if (refusal !== undefined) return `refused: ${refusal}`;
  return at === null ? '-' : 'refused';
}

function next({ enabled, next_at: at, timezone }: Listed, { nowMs }: Display): string {
  return enabled ? zoned(at, timezone, nowMs) : 'disabled';
}

function schedules(data: Projected<'schedule.list'>, display: Display): Table {
  return table(data, 'No schedules. Add one with: svc schedule add NAME --cron "0 3 * * *" --plan WORKSPACE', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'CRON', cell: (each) => each.cron },
    { title: 'RUNS', cell: (each) => each.runbook, mayCut: true, mayDrop: true },
    { title: 'NEXT', cell: (each) => next(each, display), mayCut: true },
    { title: 'LAST JOB', cell: lastJob, mayCut: true, mayDrop: true },
    { title: 'LAST', cell: (each) => relative(each.last_at, display.nowMs), mayDrop: true },
    { title: 'TIMEZONE', cell: (each) => each.timezone, mayDrop: true },
  ]);
}

function schedule(data: Schedule, display: Display): Sheet {
  const ttl = data.approval_ttl === null ? '' : `, for ${data.approval_ttl}`;
  return sheet([
    ['Schedule', data.name],
    ['At', `${data.cron} (${data.timezone})`],
    ['Runs', data.runbook],
    ['Approval', data.approval === 'required' ? `required${ttl}` : 'none'],
    ['Next', next(data, display)],
    ['Last', absolute(data.last_at, display.nowMs)],
    ['Last job', lastJob(data)],
  ]);
}

/** By day, in UTC; the time of day is that of the zone of each schedule. */
function agenda({ days, runs, left_out: cut }: Projected<'schedule.agenda'>, display: Display): Text {
  const list = table(runs, `No schedule runs in these ${days} days.`, [
    { title: 'IN', cell: ({ at }) => relative(at, display.nowMs) },
    {
      title: 'LOCAL TIME',
      cell: ({ local, clock_set: set }) => (set === undefined ? local : `${local} (clock set ${set})`),
    },
    { title: 'TIMEZONE', cell: ({ timezone }) => timezone, mayDrop: true },
    { title: 'SCHEDULE', cell: ({ name, more }) => (more === true ? `${name} (and more often)` : name) },
    { title: 'RUNS', cell: ({ runbook }) => runbook, mayCut: true },
  ]);
  return cut === 0 ? list : [list, `${cut} more runs in these days are not shown.\n`];
}

export const SCHEDULES_TEXTS = { 'schedule.list': schedules, 'schedule.agenda': agenda, 'schedule.get': schedule };
