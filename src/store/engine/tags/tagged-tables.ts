/** What the tag of a row covers, by table: a row here is all that another tagged table needs. */
import { leavesSandbox, workflowLeavesSandbox } from '../../../domain/jobs/order.ts';
import { BACKUP } from '../../schema/backups/tagged.ts';
import { GATE } from '../../schema/gate/tagged.ts';
import { form } from '../../schema/form.ts';
import type * as schema from '../../schema/schema.ts';

export interface TaggedRows {
  jobs: schema.JobRow;
  approvals: schema.ApprovalRow;
  rules: schema.RuleRow;
  schedules: schema.ScheduleRow;
  workflows: schema.WorkflowRow;
  workflow_runs: schema.WorkflowRunRow;
  workspaces: schema.WorkspaceRow;
  sources: schema.SourceRow;
  inventories: schema.InventoryRow;
  tokens: schema.TokenRow;
  sessions: schema.SessionRow;
  decision_links: schema.DecisionLinkRow;
  webhooks: schema.WebhookRow;
  workflow_steps: schema.WorkflowStepRow;
  artifacts: schema.ArtifactRow;
  backups: schema.BackupRow;
  endpoints: schema.EndpointRow;
  daemons: schema.DaemonRow;
  gate: schema.GateRow;
}

const JOB = form<schema.JobRow>()({
  what: 'job',
  key: ['id'],
  columns: [
    'id',
    'kind',
    'initial_state',
    'runbook',
    'source',
    'trigger',
    'workspace',
    'concurrency_key',
    'privileged',
    'created_at',
    'requested_by',
    'owners',
    'redrive_of',
    'spec',
    'timeout_ms',
  ],
  later: ['rerun_of', 'node', 'plan_artifact_id', 'pinned', 'because'],
  hadTag: (row) => leavesSandbox(row.privileged === 1, row.spec),
});

const APPROVAL = form<schema.ApprovalRow>()({
  what: 'approval',
  key: ['id'],
  // The decision too: a job that needed one is claimed only with a yes that was given here.
  columns: [
    'id',
    'job_id',
    'kind',
    'state',
    'policy',
    'workspace',
    'runbook',
    'plan_artifact_id',
    'plan_digest',
    'plan_serial',
    'requested_by',
    'owners',
    'origin',
    'alert',
    'rule',
    'matched_at',
    'schedule',
    'created_at',
    'expires_at',
    'decided_at',
    'decided_by',
    'decided_via',
    'one_tap',
    'summary',
  ],
  later: ['because'],
});

const RULE_EARLIER = [
  'name',
  'when_text',
  'cooldown_ms',
  'approval',
  'approval_ttl_ms',
  'action',
  'added_by',
  'one_tap',
] as const;

const RULE = form<schema.RuleRow>()({
  what: 'rule',
  key: ['name'],
  columns: [...RULE_EARLIER, 'owners', 'bounded_values', 'summary'],
  earlier: RULE_EARLIER,
  hadTag: (row) => leavesSandbox(false, row.action),
});

const SCHEDULE_EARLIER = [
  'name',
  'cron',
  'timezone',
  'action',
  'runbook',
  'approval',
  'approval_ttl_ms',
  'added_by',
  'created_at',
] as const;

const SCHEDULE = form<schema.ScheduleRow>()({
  what: 'schedule',
  key: ['name'],
  columns: [...SCHEDULE_EARLIER, 'owners', 'summary'],
  earlier: SCHEDULE_EARLIER,
  hadTag: (row) => leavesSandbox(false, row.action),
});

const WORKFLOW = form<schema.WorkflowRow>()({
  what: 'workflow',
  key: ['name'],
  columns: ['name', 'definition', 'owners', 'added_by'],
  hadTag: (row) => workflowLeavesSandbox(row.definition),
});

const WORKFLOW_RUN = form<schema.WorkflowRunRow>()({
  what: 'run',
  called: 'workflow run',
  key: ['id'],
  columns: [
    'id',
    'workflow',
    'definition',
    'trigger',
    'origin',
    'event_id',
    'rule',
    'matched_at',
    'schedule',
    'requested_by',
    'owners',
    'resumes',
    'created_at',
  ],
  later: ['because'],
  hadTag: (row) => workflowLeavesSandbox(row.definition),
});

const WORKSPACE = form<schema.WorkspaceRow>()({
  what: 'workspace',
  key: ['name'],
  columns: [
    'name',
    'source',
    'path',
    'approve_when',
    'deny_when',
    'require_saved_plan',
    'protect_destroy',
    'inputs',
    'created_at',
    'dir_kept',
    // What runs found: a later one starts from this state, and hides these secrets.
    'serial',
    'lineage',
    'moved_at',
    'own_backend',
    'secret_refs',
  ],
  later: ['unprotected'],
});

const SOURCE = form<schema.SourceRow>()({
  what: 'source',
  key: ['name'],
  columns: ['name', 'kind', 'location', 'ref', 'commit_id', 'plugins', 'created_at', 'dir_kept'],
  later: ['approve_runs', 'except_check'],
});

const INVENTORY = form<schema.InventoryRow>()({
  what: 'inventory',
  key: ['name'],
  columns: ['name', 'model', 'digest', 'ssh_key', 'created_at'],
  later: ['approve_runs', 'except_check'],
});

const TOKEN = form<schema.TokenRow>()({
  what: 'token',
  key: ['id'],
  columns: ['id', 'name', 'owner', 'scope', 'salt', 'hash', 'created_at', 'expires_at', 'revoked_at'],
  later: ['agent'],
});

const SESSION = form<schema.SessionRow>()({
  what: 'session',
  key: ['id'],
  columns: ['id', 'token_id', 'csrf', 'created_at', 'expires_at'],
});

const DECISION_LINK = form<schema.DecisionLinkRow>()({
  what: 'link',
  called: 'decision link',
  key: ['hash'],
  columns: ['hash', 'approval_id', 'decision', 'recipient', 'made_by', 'created_at', 'target', 'one_tap'],
});

const WEBHOOK = form<schema.WebhookRow>()({
  what: 'webhook',
  key: ['name'],
  columns: ['name', 'source', 'hash', 'created_at', 'signed'],
});

const WORKFLOW_STEP = form<schema.WorkflowStepRow>()({
  what: 'step',
  called: 'workflow step',
  key: ['run_id', 'name'],
  columns: ['run_id', 'position', 'name', 'state', 'job_id', 'taken_from'],
});

const ARTIFACT = form<schema.ArtifactRow>()({
  what: 'plan',
  called: 'saved plan',
  key: ['id'],
  // Not what a rotation seals again: the labels of that name the plan.
  columns: [
    'id',
    'workspace',
    'job_id',
    'serial',
    'lineage',
    'tree_digest',
    'needs_init',
    'own_backend',
    'secrets',
    'verdict',
    'verdict_reason',
    'destroys',
    'changes',
    'creates',
    'summary',
    'created_at',
  ],
});

const ENDPOINT = form<schema.EndpointRow>()({
  what: 'endpoint',
  key: ['id'],
  // Its messages have links that decide as its owner.
  columns: ['id', 'token_id', 'owner', 'endpoint', 'p256dh', 'auth', 'created_at'],
});

const DAEMON = form<schema.DaemonRow>()({
  what: 'daemon',
  key: ['id'],
  // Its address is that of links and webhooks, and the links of a target decide while a daemon has it.
  columns: ['id', 'host', 'boot_id', 'pid', 'started_at', 'ingress_url', 'notify_targets'],
});

export const FORMS = {
  jobs: JOB,
  approvals: APPROVAL,
  rules: RULE,
  schedules: SCHEDULE,
  workflows: WORKFLOW,
  workflow_runs: WORKFLOW_RUN,
  workspaces: WORKSPACE,
  sources: SOURCE,
  inventories: INVENTORY,
  tokens: TOKEN,
  sessions: SESSION,
  decision_links: DECISION_LINK,
  webhooks: WEBHOOK,
  workflow_steps: WORKFLOW_STEP,
  artifacts: ARTIFACT,
  backups: BACKUP,
  endpoints: ENDPOINT,
  daemons: DAEMON,
  gate: GATE,
} as const;
