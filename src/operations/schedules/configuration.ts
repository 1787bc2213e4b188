import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Entry } from '../../domain/configuration/change.ts';
import { formatDuration } from '../../domain/duration.ts';
import { type Action, JOB_ACTION_WRITES, type JobActionKind } from '../../domain/rules/actions.ts';
import type { ScheduledAction } from '../../domain/schedules/schedule.ts';
import { TIMEZONE_DEFAULT } from '../../domain/schedules/timetable.ts';
import { fromJson } from '../../lib/json.ts';
import { listSchedules } from '../../store/schedules/schedules.ts';
import { jsonSchema } from '../core/json-schema.ts';
import { readSchedule, SCHEDULE_FIELDS } from './schedules.ts';
import { type Call, type ConfigSection, disabledOf, switchCalls, without } from '../core/sections/section.ts';
import { readEntry } from '../core/sections/read-entry.ts';

// The words after -- are for command lines.
const { words: _words, ...FIELDS } = SCHEDULE_FIELDS;

const entry = z.strictObject({ ...FIELDS, enabled: z.boolean().default(true).describe('Whether its slots run') });

interface Facts {
  readonly cron: string;
  readonly timezone: string;
  readonly action: ScheduledAction;
  readonly approval: string;
  readonly approvalTtlMs: number | null;
  readonly summary: string | null;
  readonly enabled: boolean;
}

function entryOf({ cron, timezone, action, approval, approvalTtlMs, summary, enabled }: Facts): Entry {
  return {
    cron,
    ...(timezone === TIMEZONE_DEFAULT ? {} : { timezone }),
    ...writeAs(action),
    ...(approval === 'none' ? {} : { approval }),
    ...(approvalTtlMs === null ? {} : { approval_ttl: formatDuration(approvalTtlMs) }),
    ...(summary === null ? {} : { summary }),
    ...disabledOf(enabled),
  };
}

function writeAs<K extends JobActionKind>(action: Action<K>): Entry {
  return JOB_ACTION_WRITES[action.kind](action);
}

function add(name: string, to: Entry, replace: boolean): Call {
  return ['schedule.add', { name, ...without(to, 'enabled'), replace }];
}

export const schedulesSection: ConfigSection = {
  word: 'schedule',
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const rows = await listSchedules(db);
    return new Map(
      rows.map((row) => [
        row.name,
        entryOf({
          ...row,
          action: fromJson(row.action),
          approvalTtlMs: row.approval_ttl_ms,
          enabled: row.enabled === 1,
        }),
      ]),
    );
  },
  async read(map, restore) {
    const input = readEntry(entry, map, restore);
    const { timetable, action, approvalTtlMs } = await readSchedule(input);
    const { cron, timezone } = timetable;
    const { approval, summary = null, enabled } = input;
    return entryOf({ cron, timezone, action, approval, approvalTtlMs, summary, enabled });
  },
  add: (name, to) => [add(name, to, false), ...switchCalls('schedule', name, {}, to)],
  change(name, from, to) {
    const isSame = isDeepStrictEqual(without(from, 'enabled'), without(to, 'enabled'));
    return [...(isSame ? [] : [add(name, to, true)]), ...switchCalls('schedule', name, from, to)];
  },
  remove: (name) => [['schedule.remove', { name }]],
};
