import * as z from 'zod';
import { SCOPES } from '../../domain/access/scope.ts';
import { APPROVAL_STATES, DECISIONS, ORIGINS } from '../../domain/approvals/approval.ts';
import { JOB_KINDS, JOB_STATES } from '../../domain/jobs/job.ts';
import { PLAN_ACTIONS } from '../../domain/workspaces/plan.ts';
import { because, count, sourceCommit, time } from '../shapes.ts';

const approval = {
  id: z.string(),
  job_id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(APPROVAL_STATES),
  policy: z.string(),
  workspace: z.string().nullable(),
  runbook: z.string(),
  plan_artifact_id: z.string().nullable(),
  requested_by: z.string(),
  created_at: time,
  expires_at: time,
  decided_at: time.nullable(),
  decided_by: z.string().nullable(),
  decided_via: z.string().nullable(),
  reason: z.string().nullable(),
};

/**
 * Also the `error.stale` member of stale_plan. The cause is left out if the state was changed outside the service.
 */
export const STALE = z.object({
  plan_serial: count,
  current_serial: count,
  moved_by_job: z.string().optional(),
  moved_via: z.string().optional(),
  moved_at: time.optional(),
});

/** Of a pending request that no token can decide: one of these, of an owner outside its chain, is missing. */
const missingScopes = z.array(z.enum(SCOPES)).optional();

const provenance = z.object({
  origin: z.enum(ORIGINS),
  alert: z.string().optional(),
  rule: z.string().optional(),
  matched_at: time.optional(),
});

const planEntry = z.object({
  address: z.string(),
  type: z.string(),
  name: z.string(),
  action: z.enum(PLAN_ACTIONS),
  attributes: z.array(z.object({ name: z.string(), before: z.string(), after: z.string() })),
});

export const APPROVAL_VIEWS = {
  'approval.pending': z.object({
    approval_id: z.string(),
    job_id: z.string(),
    state: z.enum(JOB_STATES),
    expires_at: time,
    ttl_seconds: count,
    policy: z.string(),
    plan_artifact_id: z.string().nullable(),
    missing_scopes: missingScopes,
  }),
  'approval.list': z.array(z.object({ ...approval, summary: z.string() })),
  'approval.get': z.object({
    ...approval,
    stale: STALE.optional(),
    missing_scopes: missingScopes,
    /** Why it cannot be approved, besides a state that moved. */
    changed: z.string().optional(),
    because,
    provenance,
    source_commit: sourceCommit,
    summary: z.string(),
  }),
  'approval.plan': z.object({
    destroys: z.array(planEntry),
    changes: z.array(planEntry),
    creates: z.array(planEntry),
    summary: z.string(),
    line_count: count,
    artifact_id: z.string(),
  }),
  'approval.decision': z.object({
    approval_id: z.string(),
    job_id: z.string(),
    decision: z.enum(DECISIONS),
    state: z.enum(APPROVAL_STATES),
    job_state: z.enum(JOB_STATES),
    decided_at: time,
    decided_by: z.string(),
    decided_via: z.string(),
    reason: z.string().nullable(),
  }),
  /** The two links of one recipient, shown once: anyone who has one can use it. */
  'approval.link': z.object({
    approval_id: z.string(),
    recipient: z.string(),
    approve: z.string(),
    reject: z.string(),
    expires_at: time,
  }),
} as const satisfies Record<string, z.ZodType>;
