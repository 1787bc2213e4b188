import { z } from 'zod';
import { ACTION_KINDS, RULE_APPROVALS } from '../domain/rule.ts';
import { time } from './views-shared.ts';

const schedule = {
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  runbook: z.string(),
  next_at: time.nullable(),
  last_at: time.nullable(),
  last_job_id: z.string().nullable(),
};

/** Its kind and whom it names; the words of a command are nobody's to read. */
const action = z.object({ kind: z.enum(ACTION_KINDS), workspace: z.string().optional(), inventory: z.string().optional(), limit: z.string().nullable().optional(), timeout: z.string().nullable() });

export const SCHEDULE_VIEWS = {
  'schedule.list': z.array(z.object(schedule)),
  'schedule.get': z.object({ ...schedule, approval: z.enum(RULE_APPROVALS), approval_ttl: z.string().nullable(), action }),
} as const satisfies Record<string, z.ZodType>;
