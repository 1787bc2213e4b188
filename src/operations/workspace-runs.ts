import { z } from 'zod';
import { decideApply, type SavedPlanFacts } from '../domain/apply.ts';
import { Failure } from '../domain/failure.ts';
import { JOB_TIMEOUT_DEFAULT_MS, JOB_TIMEOUT_MAX_MS } from '../domain/job.ts';
import { OPERATORS } from '../domain/scope.ts';
import { workspaceKey, type WorkspaceKind, type WorkspaceSpec } from '../domain/workspace.ts';
import { rfc3339 } from '../lib/clock.ts';
import { newId } from '../lib/id.ts';
import { insertApproval, pendingForArtifact } from '../store/approvals.ts';
import { type ArtifactFacts, findArtifact } from '../store/artifacts.ts';
import { insertJob, type NewJob } from '../store/jobs.ts';
import type { Db, WorkspaceRow } from '../store/schema.ts';
import { findSource } from '../store/sources.ts';
import { activeApply, getWorkspace } from '../store/workspaces.ts';
import { staleBlock } from './decide.ts';
import * as field from './fields.ts';
import { type Context, writeOperation, type WriteContext } from './operation.ts';
import { reply, type Reply } from './reply.ts';
import { requireSecrets, runSecretsField } from './run-secrets.ts';

const RUN = {
  name: field.name,
  run_secrets: runSecretsField,
  timeout: z.string().optional().describe('How long it may run, such as 10m'),
};

interface RunInput {
  readonly name: string;
  readonly run_secrets: Readonly<Record<string, string>>;
  readonly timeout?: string | undefined;
  readonly detailed_exitcode?: boolean | undefined;
}

/** What the audit row tells of a run that was asked for: also whether neither a policy nor a person looked at it. */
function audit({ name, plan }: { readonly name: string; readonly plan?: string | undefined }, told: Reply) {
  const { job_id: target, ungated } = told.shape === 'one' ? (told.data as { job_id: string; ungated?: true }) : {};
  const detail = { workspace: name, ...(plan === undefined ? {} : { plan }), ...(ungated === true ? { ungated } : {}) };
  return { target: target ?? null, detail };
}

/**
 * Lifecycle hooks are not run, and a run without what its source asks for is another run. Asked again of the very
 * copy that runs. Throws not_found and not_implemented.
 */
async function refuseHooks({ store, services }: Context, { name }: RunInput): Promise<void> {
  const workspace = await getWorkspace(store.db, name);
  if (workspace.source === null) return;
  const source = await findSource(store.db, workspace.source);
  // A tree that is not on this machine is looked at where it runs.
  const tree = source === undefined ? null : await services.sources.treeOf(source);
  const file = tree === null ? null : await services.sources.hooksFile(tree);
  if (file === null) return;
  throw new Failure('not_implemented', `Source ${workspace.source} declares lifecycle hooks (${file}), and hooks are not run here: nothing is run from it.`);
}

/** Reads the workspace, and holds its key: until this write ends nobody else enters its queue or changes it. */
async function enter({ tx }: WriteContext, input: RunInput): Promise<WorkspaceRow> {
  await tx.dialect.lockKey(tx.db, workspaceKey(input.name));
  const workspace = await getWorkspace(tx.db, input.name);
  await requireSecrets(tx.db, input.run_secrets);
  return workspace;
}

function newRun({ tx, caller }: WriteContext, kind: WorkspaceKind, workspace: WorkspaceRow, input: RunInput, plan: string | null): NewJob {
  const detailed = input.detailed_exitcode === true ? { detailedExitcode: true } : {};
  const spec: WorkspaceSpec = { workspace: workspace.name, plan, runSecrets: input.run_secrets, ...detailed };
  return {
    id: newId('job', tx.now),
    kind,
    state: 'queued',
    runbook: `${kind}:${workspace.name}`,
    source: workspace.source,
    trigger: caller.via,
    workspace: workspace.name,
    concurrencyKey: workspaceKey(workspace.name),
    privileged: false,
    createdAt: tx.now,
    requestedBy: caller.name,
    owners: [caller.owner],
    redriveOf: null,
    spec: JSON.stringify(spec),
    timeoutMs: field.durationOr('timeout', input.timeout, JOB_TIMEOUT_DEFAULT_MS, JOB_TIMEOUT_MAX_MS),
    ...(plan === null ? {} : { planArtifactId: plan }),
  };
}

async function queue({ tx, services }: WriteContext, job: NewJob, ungated = false): Promise<Reply> {
  await insertJob(tx, job);
  tx.afterCommit(() => services.wake());
  // `ungated` is for the audit row; the view does not show it.
  return reply('job.enqueued', { job_id: job.id, state: 'queued', ...(ungated ? { ungated: true } : {}) });
}

/** The job waits, and with it an approval that names exactly the plan that was made: its digest and its serial. */
async function ask({ tx, caller, services }: WriteContext, job: NewJob, artifact: ArtifactFacts): Promise<Reply> {
  const ttlMs = services.approvalTtlMs;
  const { id, expires_at: expiresAt } = await insertApproval(tx, {
    jobId: job.id,
    kind: job.kind,
    policy: 'require_approval',
    workspace: artifact.workspace,
    runbook: job.runbook,
    planArtifactId: artifact.id,
    planDigest: artifact.digest,
    planSerial: artifact.serial,
    requestedBy: caller.name,
    owners: job.owners,
    origin: 'manual',
    ttlMs,
  });
  await insertJob(tx, { ...job, state: 'awaiting_approval', expiresAt });
  // The daemon has a new deadline to keep.
  tx.afterCommit(() => services.wake());
  return reply('approval.pending', {
    approval_id: id,
    job_id: job.id,
    state: 'awaiting_approval',
    expires_at: rfc3339(expiresAt),
    ttl_seconds: Math.round(ttlMs / 1000),
    policy: 'require_approval',
    plan_artifact_id: artifact.id,
  });
}

/** Decides by the table of moves and carries the decision out. Throws what it refuses. */
async function decideAndQueue(context: WriteContext, kind: 'apply' | 'destroy', input: RunInput, planId: string | null): Promise<Reply> {
  const { db } = context.tx;
  const workspace = await enter(context, input);
  const artifact = planId === null ? null : await planOf(db, workspace, planId);
  const stale = artifact === null ? null : await staleBlock(db, { workspace: workspace.name, plan_artifact_id: artifact.id, plan_serial: artifact.serial });
  const decision = decideApply({
    kind,
    plan: artifact === null ? null : await savedPlanFacts(db, artifact, stale !== null),
    requireSavedPlan: workspace.require_saved_plan === 1,
    protectDestroy: workspace.protect_destroy === 1,
    holder: (await activeApply(db, workspace.name))?.id ?? null,
  });
  if (decision.move === 'refuse') throw new Failure(decision.code, decision.message, decision.code === 'stale_plan' ? { stale } : {});
  const job = newRun(context, kind, workspace, input, planId);
  if (decision.move === 'queue') return queue(context, job, decision.ungated);
  if (artifact === null) throw new Error('only a saved plan can be asked about');
  return ask(context, job, artifact);
}

/** A plan of another workspace is not there for this one. */
async function planOf(db: Db, workspace: WorkspaceRow, id: string): Promise<ArtifactFacts> {
  const artifact = await findArtifact(db, id);
  if (artifact === undefined || artifact.workspace !== workspace.name) throw field.notFound(`saved plan ${id} of the workspace ${workspace.name}`);
  return artifact;
}

async function savedPlanFacts(db: Db, artifact: ArtifactFacts, stale: boolean): Promise<SavedPlanFacts> {
  return {
    id: artifact.id,
    consumedBy: artifact.consumed_by,
    verdict: artifact.verdict,
    verdictReason: artifact.verdict_reason,
    stale,
    pendingApprovalId: await pendingForArtifact(db, artifact.id),
  };
}

const plan = writeOperation({
  id: 'workspace.plan',
  summary: 'Queue a plan; what it finds is saved and can be applied by its id',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/plan' },
  cli: { verb: 'workspace plan', positionals: ['name'], examples: ['svc workspace plan net', 'svc workspace plan net --timeout 10m'] },
  mcp: { tool: 'workspace_plan' },
  input: z.strictObject({
    ...RUN,
    detailed_exitcode: z.boolean().default(false).describe('End with exit code 2 where something would change'),
  }),
  answers: ['job.enqueued'],
  failures: ['not_found', 'not_implemented'],
  audit,
  prepare: refuseHooks,
  run: async (context, input) => queue(context, newRun(context, 'plan', await enter(context, input), input, null)),
});

const apply = writeOperation({
  id: 'workspace.apply',
  summary: 'Queue an apply: of a saved plan, as its policy says, or fresh',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/apply' },
  cli: {
    verb: 'workspace apply',
    positionals: ['name'],
    examples: ['svc workspace apply net --plan art_01m7yd4zyke00anp2z332d2j5p', 'svc workspace apply net'],
  },
  mcp: { tool: 'workspace_apply' },
  input: z.strictObject({ ...RUN, plan: field.id('art').optional().describe('The saved plan to carry out; without it a new plan is made and applied') }),
  answers: ['job.enqueued', 'approval.pending'],
  failures: ['not_found', 'conflict', 'stale_plan', 'concurrency_held', 'not_implemented'],
  audit,
  prepare: refuseHooks,
  run: (context, input) => decideAndQueue(context, 'apply', input, input.plan ?? null),
});

const destroy = writeOperation({
  id: 'workspace.destroy',
  summary: 'Queue the destruction of everything that a workspace holds',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workspaces/{name}/destroy' },
  cli: { verb: 'workspace destroy', positionals: ['name'], examples: ['svc workspace destroy net'] },
  mcp: { none: 'A destroy is never gated: an agent that could ask for one needs a person in between.' },
  input: z.strictObject(RUN),
  answers: ['job.enqueued'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  audit,
  prepare: refuseHooks,
  run: (context, input) => decideAndQueue(context, 'destroy', input, null),
});

const drift = writeOperation({
  id: 'workspace.drift',
  summary: 'Queue a look at whether reality still is as the state says',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { none: 'Drift is looked for from the machine or by a schedule; the list of workspaces shows what was found.' },
  cli: { verb: 'workspace drift', positionals: ['name'], examples: ['svc workspace drift net'] },
  mcp: { none: 'workspace_list shows what the last look found; workspace_plan looks anew.' },
  input: z.strictObject(RUN),
  answers: ['job.enqueued'],
  failures: ['not_found', 'not_implemented'],
  audit,
  prepare: refuseHooks,
  run: async (context, input) => queue(context, newRun(context, 'drift', await enter(context, input), input, null)),
});

export const WORKSPACE_RUN_OPERATIONS = [plan, apply, destroy, drift];
