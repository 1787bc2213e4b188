import { z } from 'zod';
import { JOB_STATES } from '../../domain/jobs/job.ts';

/** Of a rule. */
export const commandAction = z.object({
  kind: z.literal('command'),
  inventory: z.string(),
  limit: z.string().nullable(),
  timeout: z.string().nullable(),
});

/** Of a rule that runs a playbook. Variables, projects of secrets and ports are never shown. */
export const playbookAction = z.object({
  kind: z.literal('playbook'),
  source: z.string(),
  playbook: z.string(),
  inventory: z.string(),
  limit: z.string().nullable(),
  tags: z.array(z.string()).readonly(),
  check: z.boolean(),
  diff: z.boolean(),
  timeout: z.string().nullable(),
});

export const COMMAND_VIEWS = {
  'job.command': z.object({
    job_id: z.string(),
    command: z.array(z.string()),
    /** Directories outside its run that it may write; absent without any. */
    writable: z.array(z.string()).optional(),
  }),
  'command.result': z.object({
    job_id: z.string(),
    state: z.enum(JOB_STATES),
    hosts: z.array(
      z.object({
        host: z.string(),
        rc: z.int().nullable(),
        changed: z.boolean().nullable(),
        stdout: z.string(),
        stderr: z.string(),
        status: z.enum(['ok', 'failed', 'unreachable']),
      }),
    ),
  }),
} as const satisfies Record<string, z.ZodType>;
