/** Views of infrastructure with a text in every field that may have one. */
import { hostileConfig } from './hostile-config-views.ts';

/** The views of sources, workspaces, secrets and the seal. */
export function hostileInfrastructure(text: string) {
  const source = { name: text, kind: text, ref: text, commit: text, synced_at: text };
  const drift = { drift: text, drift_checked_at: text };
  const workspace = {
    name: text,
    source: text,
    path: text,
    serial: 1,
    ...drift,
    last_plan_job_id: text,
    last_apply_job_id: text,
    locked_by: text,
  };
  const policy = { approve_when: text, deny_when: text, require_saved_plan: true, protect_destroy: false };
  const planCounts = { serial: 1, destroys: 1, changes: 1, creates: 1 };
  const secret = { project: text, name: text, version: 1, created_at: text, updated_at: text };
  return {
    ...hostileConfig(text),
    'source.list': [source],
    'source.get': source,
    'hooks.show': { source: text, file: text, hooks: [text, text] },
    ...hostileWorkflows(text),
    ...hostileHosts(text),
    'workspace.list': [workspace],
    'workspace.get': { ...workspace, policy, inputs: { vars: [text], var_files: [text], run_secrets: [text] } },
    'workspace.state': [{ version: -1, serial: 1, resources: 2, job_id: text, created_at: text }],
    'workspace.plans': [
      {
        ...planCounts,
        id: text,
        use: text,
        used_by: text,
        verdict: text,
        job_id: text,
        created_at: text,
        summary: text,
      },
    ],
    'schedule.agenda': {
      days: 7,
      runs: [{ at: text, local: text, timezone: text, name: text, runbook: text, more: true, clock_set: 'back' }],
      left_out: 1,
    },
    'workspace.exported': { name: text, version: 1, serial: 1, file: text },
    'secret.list': [secret],
    'secret.get': secret,
    'seal.status': { key_id: text, algorithm: text, created_at: text, sealed_items: 1, state: text },
  };
}

/** The results of a playbook. */
function hostileHosts(text: string) {
  const counts = { ok: 1, changed: 1, failures: 1, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const host = { host: text, ...counts, failure: { task: 0, message: text }, cells: text };
  const tasks = [{ play: text, task: text }];
  return { 'playbook.hosts': { job_id: text, tasks, tasks_left_out: 1, hosts: [host], hosts_left_out: 1 } };
}

/** The views of workflows. */
function hostileWorkflows(text: string) {
  const last = { last_run_id: text, last_state: text, last_started_at: text };
  const workflow = { name: text, steps: 1, added_by: text, created_at: text, updated_at: text, ...last };
  const action = { kind: text, workspace: text, playbook: text, inventory: text, limit: text, timeout: text };
  const step = { name: text, needs: [text], when: text, approval: text, approval_ttl: text, action };
  const steps = [{ name: text, state: text, job_id: text, reason: text }];
  return {
    'workflow.list': [workflow],
    'workflow.get': { ...workflow, steps: [step] },
    'workflow.status': { run_id: text, workflow: text, state: text, steps },
  };
}

/** The views of approvals. */
export function hostileApprovals(text: string) {
  const ends = {
    created_at: text,
    expires_at: text,
    decided_at: text,
    decided_by: text,
    decided_via: text,
    reason: text,
  };
  const approval = {
    id: text,
    job_id: text,
    kind: text,
    state: text,
    policy: text,
    workspace: text,
    runbook: text,
    plan_artifact_id: text,
    requested_by: text,
    summary: text,
    ...ends,
  };
  const stale = { plan_serial: 1, current_serial: 2, moved_by_job: text, moved_via: text, moved_at: text };
  const entry = {
    address: text,
    type: text,
    name: text,
    action: text,
    attributes: [{ name: text, before: text, after: text }],
  };
  return {
    'approval.pending': {
      approval_id: text,
      job_id: text,
      state: text,
      expires_at: text,
      ttl_seconds: 1,
      policy: text,
      plan_artifact_id: text,
    },
    'approval.list': [approval, { ...approval, state: 'pending' }],
    'approval.get': {
      ...approval,
      state: 'pending',
      stale,
      provenance: { origin: 'alert', alert: text, rule: text, matched_at: text },
    },
    'approval.plan': {
      destroys: [entry],
      changes: [entry],
      creates: [entry],
      summary: text,
      line_count: 3,
      artifact_id: text,
    },
    'approval.decision': {
      approval_id: text,
      job_id: text,
      decision: text,
      state: text,
      job_state: text,
      decided_at: text,
      decided_by: text,
      decided_via: text,
      reason: text,
    },
    'approval.link': { approval_id: text, recipient: text, approve: text, reject: text, expires_at: text },
  };
}
