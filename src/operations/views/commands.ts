import { z } from 'zod';
import { JOB_STATES } from '../../domain/jobs/job.ts';

export const COMMAND_VIEWS = {
  'command.result': z.object({
    job_id: z.string(),
    state: z.enum(JOB_STATES),
    hosts: z.array(
      z.object({
        host: z.string(),
        rc: z.int().nullable(),
        changed: z.boolean(),
        stdout: z.string(),
        stderr: z.string(),
        status: z.enum(['ok', 'failed', 'unreachable']),
      }),
    ),
  }),
} as const satisfies Record<string, z.ZodType>;
