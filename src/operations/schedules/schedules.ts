import * as z from 'zod';
import { APPROVAL_TTL_MAX_MS } from '../../domain/approvals/approval.ts';
import { formatDuration, requireDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { RULE_APPROVALS } from '../../domain/rules/rule.ts';
import { countsFrom } from '../../domain/schedules/schedule.ts';
import { TIMEZONE_DEFAULT, timetableReader } from '../../domain/schedules/timetable.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { requireTargets, runbookOf } from '../../jobs/actions.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import {
  deleteSchedule,
  findHeldSchedule,
  holdSchedule,
  insertSchedule,
  listSchedules,
  replaceSchedule,
  switchSchedule,
  type NewSchedule,
} from '../../store/schedules/schedules.ts';
import * as field from '../core/fields.ts';
import { actionDetail, requireWritable } from '../core/reach-input.ts';
import { localOnly, type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, type Reply, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';
import { ACTION_FIELDS, readAction } from './actions.ts';

const LOCAL_ONLY = localOnly(
  'Schedules start jobs without a request, so they are changed on the machine only, like code that runs there.',
);

function scheduleView({ last_refusal: refusal, ...row }: NewSchedule): ViewItem<'schedule.list'> {
  return {
    ...row,
    enabled: row.enabled === 1,
    next_at: row.next_at === null ? null : rfc3339(row.next_at),
    last_at: row.last_at === null ? null : rfc3339(row.last_at),
    ...(refusal === null ? {} : { last_refusal: refusal }),
  };
}

function replyGet(row: NewSchedule): Reply {
  const ttlMs = row.approval_ttl_ms;
  return reply('schedule.get', {
    ...scheduleView(row),
    approval: row.approval,
    approval_ttl: ttlMs === null ? null : formatDuration(ttlMs),
    // The view has no place for the words of a command.
    action: fromJson(row.action),
  });
}

const list = readOperation({
  id: 'schedule.list',
  summary: 'List schedules with their next slot and the result of the last one',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/schedules' },
  cli: { verb: 'schedule list', examples: ['svc schedule list'] },
  mcp: { tool: 'schedule_list' },
  answers: ['schedule.list'],
  run: async ({ store }) => reply('schedule.list', (await listSchedules(store.db)).map(scheduleView)),
});

/** What a schedule says, besides its name. */
export const SCHEDULE_FIELDS = {
  cron: z.string().describe('Five fields: minute, hour, day of month, month, day of week'),
  timezone: z.string().default(TIMEZONE_DEFAULT).describe('Time zone of the cron fields, such as Europe/Berlin'),
  ...ACTION_FIELDS,
  timeout: field.duration.optional().describe('Maximum duration of each run, such as 10m'),
  approval: field.oneOf(RULE_APPROVALS).default('none').describe('Whether each run needs an approval'),
  approval_ttl: field.duration.optional().describe('How long each run waits for its approval, such as 30m'),
  summary: field.summary,
};

type ScheduleInput = z.output<z.ZodObject<typeof SCHEDULE_FIELDS>>;

/** Reads and checks what a schedule says. Throws invalid_argument. */
export async function readSchedule(input: ScheduleInput) {
  const read = await timetableReader();
  const action = readAction(input, input.timeout ?? null);
  return { timetable: read(input.cron, input.timezone), action, approvalTtlMs: approvalTtlOf(input) };
}

function approvalTtlOf({ approval, approval_ttl: text }: ScheduleInput): number | null {
  if (text === undefined) return null;
  if (approval === 'none') throw new Failure('invalid_argument', 'approval_ttl: expected only with approval required.');
  return requireDuration('approval_ttl', text, 1_000, APPROVAL_TTL_MAX_MS);
}

function newSchedule(
  name: string,
  definition: Omit<NewSchedule, keyof typeof UNUSED | 'name' | 'next_at' | 'created_at'>,
  nextAt: number | null,
  now: number,
): NewSchedule {
  return { name, ...UNUSED, ...definition, next_at: nextAt, created_at: now };
}

/** Of a schedule that has had no slot. */
const UNUSED = { enabled: 1 as const, last_at: null, last_job_id: null, last_refusal: null, rest_after: null };

const add = writeOperation({
  id: 'schedule.add',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Create a schedule that queues a job at regular times',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'schedule add',
    positionals: ['name', 'words'],
    examples: [
      'svc schedule add nightly --cron "0 3 * * *" --timezone Europe/Berlin --drift net',
      'svc schedule add tidy --cron "*/30 * * * *" --inventory localhost --writable /srv/cache -- ' +
        'find /srv/cache -mtime +7 -delete',
    ],
  },
  input: z.strictObject({
    name: field.name,
    ...SCHEDULE_FIELDS,
    replace: field.flag.describe('Replace the schedule of this name, if any; it stays enabled or disabled'),
  }),
  answers: ['schedule.get'],
  failures: ['duplicate', 'not_found'],
  async prepare({ services }, input) {
    const read = await readSchedule(input);
    requireWritable(services, read.action);
    return read;
  },
  async run({ tx, caller, services }, input, { timetable, action, approvalTtlMs }) {
    await requireTargets(tx, action);
    const now = await tx.dialect.clock(tx.db, tx.now);
    const definition = {
      cron: timetable.cron,
      timezone: timetable.timezone,
      action: toJson(action),
      runbook: runbookOf(action),
      approval: input.approval,
      approval_ttl_ms: approvalTtlMs,
      owners: toJson([caller.owner]),
      added_by: caller.name,
      summary: input.summary ?? null,
      star_steps: 1 as const,
    };
    const held = input.replace ? await findHeldSchedule(tx, input.name) : undefined;
    const nextAt = timetable.next(held === undefined ? now : countsFrom(now, held.last_at));
    const row =
      held === undefined
        ? newSchedule(input.name, definition, nextAt, tx.now)
        : await replaceSchedule(tx, held, { ...definition, next_at: held.enabled === 1 ? nextAt : null });
    if (held === undefined) await insertSchedule(tx, row);
    tx.afterCommit(() => services.wake());
    return written(replyGet(row), row.name, {
      runbook: row.runbook,
      approval: row.approval,
      ...(input.replace ? { replace: true } : {}),
      ...actionDetail(action),
    });
  },
});

const byName = z.strictObject({ name: field.name });

const enable = writeOperation({
  id: 'schedule.enable',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Enable a schedule, starting with its next slot',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'schedule enable', positionals: ['name'], examples: ['svc schedule enable nightly'] },
  input: byName,
  answers: ['schedule.get'],
  failures: ['not_found'],
  prepare: timetableReader,
  async run({ tx, caller, services }, { name }, read) {
    const row = await holdSchedule(tx, name);
    if (row.enabled === 1) return written(replyGet(row), name);
    const now = await tx.dialect.clock(tx.db, tx.now);
    const on = {
      enabled: 1 as const,
      next_at: read(row.cron, row.timezone).next(countsFrom(now, row.last_at)),
      // The user who enables it counts as a requester, like its author, and cannot approve its jobs (T28).
      owners: toJson([...new Set([...fromJson(row.owners), caller.owner])]),
    };
    await switchSchedule(tx, row, on);
    tx.afterCommit(() => services.wake());
    return written(replyGet({ ...row, ...on }), name);
  },
});

const disable = writeOperation({
  id: 'schedule.disable',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Disable a schedule; slots missed while disabled never run',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/schedules/{name}/disable' },
  mcp: { none: 'A person decides what runs at regular times.' },
  cli: { verb: 'schedule disable', positionals: ['name'], examples: ['svc schedule disable nightly'] },
  input: byName,
  answers: ['schedule.get'],
  failures: ['not_found'],
  async run({ tx }, { name }) {
    const row = await holdSchedule(tx, name);
    const off = { enabled: 0 as const, next_at: null, owners: row.owners };
    await switchSchedule(tx, row, off);
    return written(replyGet({ ...row, ...off }), name);
  },
});

const remove = writeOperation({
  id: 'schedule.remove',
  causes: { none: 'Its owners are in its row, and so in the chain of each job that it starts.' },
  summary: 'Remove a schedule; jobs that it queued remain',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'schedule remove', removes: true, positionals: ['name'], examples: ['svc schedule remove nightly'] },
  input: byName,
  answers: ['schedule.get'],
  failures: ['not_found'],
  run: async ({ tx }, { name }) => written(replyGet(await deleteSchedule(tx, name)), name),
});

export const SCHEDULE_OPERATIONS: readonly Operation[] = [list, add, enable, disable, remove];
