import * as z from 'zod';
import { JOB_KINDS } from '../../domain/jobs/job.ts';
import { count, time } from '../shapes.ts';

const running = z.object({
  job_id: z.string(),
  kind: z.enum(JOB_KINDS),
  /** Null for a daemon of an earlier build. */
  node: z.string().nullable(),
  started_at: time.nullable(),
});

export const MAINTENANCE_VIEWS = {
  'maintenance.readiness': z.object({
    cordoned: z.boolean(),
    in_flight: count,
    safe_to_reboot: z.boolean(),
    running: z.array(running),
  }),
  'maintenance.restart': z.object({
    state: z.enum(['idle', 'requested', 'draining', 'aborted']),
    cordoned: z.boolean(),
    in_flight: count,
    requested_at: time.nullable(),
    drain_deadline: time.nullable(),
    /** Why it was aborted, or has not ended. */
    reason: z.string().nullable(),
    node: z.string(),
    forced: z.boolean(),
    finished_at: time.nullable(),
    running: z.array(running),
  }),
  /** Counts of what is registered now; `restart_needed` has names of settings. */
  'maintenance.reload': z.object({ schedules: count, transports: count, restart_needed: z.array(z.string()) }),
  'node.list': z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      started_at: time,
      /** The last renewal of its lease; null while it holds a lock instead, and if unknown. */
      last_seen_at: time.nullable(),
      cordoned: z.boolean(),
      running_jobs: count,
      /** `cordoned` only while it lives. One that restarts in place is cordoned, not gone. */
      state: z.enum(['running', 'cordoned', 'gone']),
    }),
  ),
} as const satisfies Record<string, z.ZodType>;
