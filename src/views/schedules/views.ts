import * as z from 'zod';
import { RULE_APPROVALS } from '../../domain/rules/rule.ts';
import { JOB_ACTION_KINDS } from '../../domain/rules/actions.ts';
import { count, time } from '../shapes.ts';

const schedule = {
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  runbook: z.string(),
  next_at: time.nullable(),
  last_at: time.nullable(),
  last_job_id: z.string().nullable(),
  /** Why the last slot made no job. */
  last_refusal: z.string().optional(),
};

/** The kind and its targets. The words of a command are never shown. */
const action = z.object({
  kind: z.enum(JOB_ACTION_KINDS),
  workspace: z.string().optional(),
  backup: z.string().optional(),
  source: z.string().optional(),
  playbook: z.string().optional(),
  workflow: z.string().optional(),
  inventory: z.string().optional(),
  limit: z.string().nullable().optional(),
  tags: z.array(z.string()).readonly().optional(),
  check: z.boolean().optional(),
  diff: z.boolean().optional(),
  timeout: z.string().nullable(),
});

export const SCHEDULE_VIEWS = {
  'schedule.list': z.array(z.object(schedule)),
  /** The runs of enabled schedules in some days, by time. */
  'schedule.agenda': z.object({
    days: count,
    runs: z.array(
      z.object({
        at: time,
        /** In the time zone of the schedule, with its offset. */
        local: z.string(),
        timezone: z.string(),
        name: z.string(),
        runbook: z.string(),
        /** Whether the schedule runs more often in these days than is shown. */
        more: z.boolean().optional(),
        /** Where the clock of the zone is set on that day: how. */
        clock_set: z.enum(['forward', 'back']).optional(),
      }),
    ),
    left_out: count,
  }),
  'schedule.get': z.object({
    ...schedule,
    approval: z.enum(RULE_APPROVALS),
    approval_ttl: z.string().nullable(),
    action,
  }),
} as const satisfies Record<string, z.ZodType>;
