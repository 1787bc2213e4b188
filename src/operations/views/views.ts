import { z } from 'zod';
import { APPROVAL_STATES, DECISIONS, ORIGINS } from '../../domain/approvals/approval.ts';
import { JOB_KINDS, JOB_STATES, JOB_TRIGGERS } from '../../domain/jobs/job.ts';
import { PLAN_ACTIONS } from '../../domain/workspaces/plan.ts';
import { SCOPES } from '../../domain/access/scope.ts';
import { SOURCE_KINDS } from '../../domain/sources/source.ts';
import { DRIFT_STATES } from '../../domain/workspaces/workspace.ts';
import { CHUNK_STREAMS } from '../../lib/chunks/chunk.ts';
import { AUDIT_VIEWS } from './audit.ts';
import { EVENT_VIEWS } from './events.ts';
import { HOST_VIEWS } from './host.ts';
import { NOTIFY_VIEWS } from './notify.ts';
import { RULE_VIEWS } from './rules.ts';
import { SCHEDULE_VIEWS } from './schedules.ts';
import { count, time } from './shared.ts';
import { WEBHOOK_VIEWS } from './webhooks.ts';

const job = {
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(JOB_STATES),
  runbook: z.string(),
  source: z.string().nullable(),
  trigger: z.enum(JOB_TRIGGERS),
  workspace: z.string().nullable(),
  concurrency_key: z.string().nullable(),
  privileged: z.literal(true).optional(),
};

const jobTail = {
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  expires_at: time.optional(),
  exit_code: z.int().nullable(),
  requested_by: z.string(),
  redrive_of: z.string().nullable(),
  plan_artifact_id: z.string().nullable().optional(),
};

const progress = z.object({ play: z.string(), task: z.string(), elapsed_seconds: count });

const event = z.discriminatedUnion('type', [
  z.object({
    seq: count,
    at: time,
    type: z.literal('state'),
    state: z.enum(JOB_STATES),
    exit_code: z.int().nullable(),
  }),
  z.object({ seq: count, at: time, type: z.literal('log'), stream: z.enum(CHUNK_STREAMS), text: z.string() }),
  z.object({ seq: count, at: time, type: z.literal('progress'), play: z.string(), task: z.string() }),
]);

const token = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  scope: z.enum(SCOPES),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
});

const source = z.object({
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  ref: z.string().nullable(),
  commit: z.string().nullable(),
  synced_at: time.nullable(),
});

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
});

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
 * Also the `error.stale` member of stale_plan: who moved the state is left out when it was somebody outside of the
 * service.
 */
const stale = z.object({
  plan_serial: count,
  current_serial: count,
  moved_by_job: z.string().optional(),
  moved_via: z.string().optional(),
  moved_at: time.optional(),
});

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

const secret = z.object({ project: z.string(), name: z.string(), version: count, created_at: time, updated_at: time });

/**
 * What each kind of answer may hold: an allow-list that also fixes the order of the keys, and so the bytes. To
 * project is to parse: a key that nobody named here is dropped.
 */
export const VIEWS = {
  whoami: z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    via: z.string(),
    expires_at: time.nullable(),
    server: z.object({ version: z.string().optional(), hostname: z.string().optional(), started_at: time.optional() }),
  }),
  'job.list': z.array(z.object({ ...job, ...jobTail })),
  'job.get': z.object({ ...job, progress: progress.optional(), ...jobTail }),
  'job.events': z.array(event),
  'job.enqueued': z.object({ job_id: z.string(), state: z.enum(JOB_STATES) }),
  'job.redrive': z.array(z.object({ old_job_id: z.string(), new_job_id: z.string().nullable() })),
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
  'source.list': z.array(source),
  'source.get': source,
  /** Which steps the source's own hooks file asks for; they are not run. */
  'hooks.show': z.object({ source: z.string(), file: z.string().nullable(), hooks: z.array(z.string()) }),
  'workspace.list': z.array(z.object(workspace)),
  'workspace.get': z.object({ ...workspace, policy: workspacePolicy }),
  /** The versions of the state that the service keeps, newest first. */
  'workspace.state': z.array(
    z.object({ version: z.int(), serial: count, resources: count, job_id: z.string().nullable(), created_at: time }),
  ),
  'workspace.exported': z.object({ name: z.string(), version: z.int(), serial: count, file: z.string() }),
  'approval.pending': z.object({
    approval_id: z.string(),
    job_id: z.string(),
    state: z.enum(JOB_STATES),
    expires_at: time,
    ttl_seconds: count,
    policy: z.string(),
    plan_artifact_id: z.string().nullable(),
  }),
  'approval.list': z.array(z.object(approval)),
  'approval.get': z.object({ ...approval, stale: stale.optional(), provenance }),
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
  /** The two links of one recipient, shown once: whoever has one can use it. */
  'approval.link': z.object({
    approval_id: z.string(),
    recipient: z.string(),
    approve: z.string(),
    reject: z.string(),
    expires_at: time,
  }),
  'secret.list': z.array(secret),
  'secret.get': secret,
  'seal.status': z.object({
    key_id: z.string().nullable(),
    algorithm: z.string(),
    created_at: time.nullable(),
    sealed_items: count,
    state: z.enum(['ok', 'rotating', 'missing', 'foreign']),
  }),
  doctor: z.array(
    z.object({ name: z.string(), status: z.enum(['ok', 'warn', 'fail', 'unknown']), detail: z.string() }),
  ),
  'maintenance.readiness': z.object({ cordoned: z.boolean(), in_flight: count, safe_to_reboot: z.boolean() }),
  'token.created': z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    expires_at: time.nullable(),
    token: z.string(),
  }),
  'token.list': z.array(token),
  'token.get': token,
  ...AUDIT_VIEWS,
  ...EVENT_VIEWS,
  ...RULE_VIEWS,
  ...HOST_VIEWS,
  ...SCHEDULE_VIEWS,
  ...NOTIFY_VIEWS,
  ...WEBHOOK_VIEWS,
} as const satisfies Record<string, z.ZodType>;

export type ViewName = keyof typeof VIEWS;
/** What an operation hands over for a view: more keys may stand in it, they do not leave. */
export type ViewData<V extends ViewName> = z.input<(typeof VIEWS)[V]>;
/** What a face may show. */
export type Projected<V extends ViewName> = z.output<(typeof VIEWS)[V]>;
export type ViewItem<V extends ViewName> = ViewData<V> extends readonly (infer I)[] ? I : never;
