import * as z from 'zod';
import { APPROVAL_CHOICES } from '../../domain/approvals/approval.ts';
import { RULE_ACTION_KINDS } from '../../domain/rules/actions.ts';
import { RUN_STATES, STEP_STATES } from '../../domain/workflows/workflow.ts';
import { count, time } from '../shapes.ts';

/** Of a rule. */
export const workflowAction = z.object({ kind: z.literal('workflow'), workflow: z.string() });

const workflow = {
  name: z.string(),
  /** How many. */
  steps: count,
  added_by: z.string(),
  created_at: time,
  updated_at: time,
  last_run_id: z.string().nullable(),
  last_state: z.enum(RUN_STATES).nullable(),
  last_started_at: time.nullable(),
};

/** The kind and its targets. The words of a command, extra variables and secrets are never shown. */
const action = z.object({
  kind: z.enum(RULE_ACTION_KINDS),
  workspace: z.string().optional(),
  backup: z.string().optional(),
  playbook: z.string().optional(),
  source: z.string().nullable().optional(),
  inventory: z.string().optional(),
  limit: z.string().nullable().optional(),
  timeout: z.string().nullable().optional(),
});

const step = z.object({
  name: z.string(),
  needs: z.array(z.string()),
  when: z.string().nullable(),
  approval: z.enum(APPROVAL_CHOICES),
  approval_ttl: z.string().nullable(),
  action,
});

const status = z.object({
  run_id: z.string(),
  workflow: z.string(),
  state: z.enum(RUN_STATES),
  steps: z.array(
    z.object({
      name: z.string(),
      state: z.enum(STEP_STATES),
      job_id: z.string().nullable(),
      /** Why it ended without a job of this run; absent for other steps. */
      reason: z.string().optional(),
    }),
  ),
});

export const WORKFLOW_VIEWS = {
  'workflow.list': z.array(z.object(workflow)),
  'workflow.get': z.object({ ...workflow, steps: z.array(step) }),
  'workflow.status': status,
} as const satisfies Record<string, z.ZodType>;
