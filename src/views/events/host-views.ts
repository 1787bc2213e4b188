import * as z from 'zod';
import { EVENT_OUTCOMES } from '../../domain/events/event.ts';
import { JOB_STATES } from '../../domain/jobs/job.ts';
import { MUTE_SCOPES } from '../../domain/rules/rule.ts';
import { time } from '../shapes.ts';

const mute = z.object({
  id: z.string(),
  scope_kind: z.enum(MUTE_SCOPES),
  scope_value: z.string().nullable(),
  reason: z.string().nullable(),
  created_via: z.string(),
  expires_at: time,
});

/** Ends of a wait besides the states of a job: its deadline passed, or the client disconnected. */
const WAIT_ENDS = ['pending', 'disconnected'] as const;

export const HOST_VIEWS = {
  'host.request': z.object({
    event_id: z.string(),
    outcome: z.enum(EVENT_OUTCOMES),
    reason: z.string(),
    job_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    job_state: z.enum([...JOB_STATES, ...WAIT_ENDS]).optional(),
    exit_code: z.int().optional(),
  }),
  'mute.get': mute,
  'mute.list': z.array(mute),
  'mute.preview': z.object({
    scope_kind: z.enum(MUTE_SCOPES),
    scope_value: z.string().nullable(),
    /** From here on every stored notification was examined. */
    since: time,
    would_hold: z.int(),
    examined: z.int(),
    newest: z.array(
      z.object({
        created_at: time,
        about: z.string(),
        host: z.string().nullable(),
        job_id: z.string().nullable(),
        event_id: z.string().nullable(),
        run_id: z.string().nullable(),
      }),
    ),
  }),
} as const satisfies Record<string, z.ZodType>;
