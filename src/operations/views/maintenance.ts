import { z } from 'zod';
import { JOB_KINDS } from '../../domain/jobs/job.ts';
import { count, time } from './shared.ts';

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
  'node.list': z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      started_at: time,
      /** Now while the daemon lives; null if unknown. */
      last_seen_at: time.nullable(),
      cordoned: z.boolean(),
      running_jobs: count,
    }),
  ),
} as const satisfies Record<string, z.ZodType>;
