import * as z from 'zod';
import { VERDICTS } from '../../domain/workspaces/plan.ts';
import { DRIFT_STATES } from '../../domain/workspaces/workspace.ts';
import { count, time } from '../shapes.ts';

const workspace = {
  name: z.string(),
  source: z.string().nullable(),
  path: z.string(),
  serial: count.nullable(),
  drift: z.enum(DRIFT_STATES),
  drift_checked_at: time.nullable(),
  last_plan_job_id: z.string().nullable(),
  last_apply_job_id: z.string().nullable(),
  locked_by: z.string().nullable(),
};

/** How a workspace decides about plans: its own additions to the view of one. */
const workspacePolicy = z.object({
  approve_when: z.string().nullable(),
  deny_when: z.string().nullable(),
  require_saved_plan: z.boolean(),
  protect_destroy: z.boolean(),
  unprotected: z.literal(true).optional(),
});

/** Of a rule. */
export const workspaceAction = z.object({
  kind: z.enum(['plan', 'apply', 'destroy']),
  workspace: z.string(),
  timeout: z.string().nullable(),
});

export const WORKSPACE_VIEWS = {
  'workspace.list': z.array(z.object(workspace)),
  'workspace.get': z.object({
    ...workspace,
    policy: workspacePolicy,
    /** What each run gets, by name alone. */
    inputs: z.object({ vars: z.array(z.string()), var_files: z.array(z.string()), run_secrets: z.array(z.string()) }),
  }),
  /** The versions of the state that the service keeps, newest first. */
  'workspace.state': z.array(
    z.object({ version: z.int(), serial: count, resources: count, job_id: z.string().nullable(), created_at: time }),
  ),
  /** The saved plans, newest first. `open` can be applied, `stale` was made from another state. */
  'workspace.plans': z.array(
    z.object({
      id: z.string(),
      /** Of the state that it was made from. */
      serial: count,
      use: z.enum(['open', 'used', 'stale']),
      /** The job that applied it, or tried. */
      used_by: z.string().nullable(),
      verdict: z.enum(VERDICTS).nullable(),
      destroys: count,
      changes: count,
      creates: count,
      job_id: z.string(),
      created_at: time,
      /** The counts in words, as everywhere. */
      summary: z.string(),
    }),
  ),
  'workspace.exported': z.object({ name: z.string(), version: z.int(), serial: count, file: z.string() }),
} as const satisfies Record<string, z.ZodType>;
