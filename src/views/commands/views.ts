import * as z from 'zod';
import { JOB_STATES } from '../../domain/jobs/job.ts';
import { count } from '../shapes.ts';

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
  /** How each task ended on each host. */
  'playbook.hosts': z.object({
    job_id: z.string(),
    /** In the order in which they began. */
    tasks: z.array(z.object({ play: z.string(), task: z.string() })),
    /** Tasks and hosts that there were besides. */
    tasks_left_out: count,
    hosts: z.array(
      z.object({
        host: z.string(),
        ok: count,
        changed: count,
        failures: count,
        unreachable: count,
        skipped: count,
        rescued: count,
        ignored: count,
        /** The first one; `task` counts from 0. */
        failure: z.object({ task: count, message: z.string() }).nullable(),
        /**
         * A letter for each task up to the last one that reached the host: `o` ok, `c` changed, `f` failed, `u`
         * unreachable, `s` skipped, `i` failure ignored, `r` rescued, `.` not reached.
         */
        cells: z.string(),
      }),
    ),
    hosts_left_out: count,
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
