import type { Origin } from '../domain/approvals/approval.ts';
import { decideApply, type SavedPlanFacts } from '../domain/workspaces/apply.ts';
import { type CommandSpec, requireInventory, requireLimit } from '../domain/commands/command.ts';
import { requireDuration } from '../domain/duration.ts';
import { Failure } from '../domain/failure.ts';
import { JOB_TIMEOUT_DEFAULT_MS, JOB_TIMEOUT_MAX_MS, type JobTrigger } from '../domain/jobs/job.ts';
import type { Action } from '../domain/rules/rule.ts';
import { KINDS } from '../domain/jobs/kinds.ts';
import { isChanging, workspaceKey, type WorkspaceKind, type WorkspaceSpec } from '../domain/workspaces/workspace.ts';
import { newId } from '../lib/id.ts';
import { insertApproval, pendingForArtifact } from '../store/approvals/approvals.ts';
import { type ArtifactFacts, holdArtifact } from '../store/workspaces/artifacts.ts';
import type { Tx } from '../store/engine/gate.ts';
import { insertJob, type NewJob } from '../store/jobs/jobs.ts';
import type { ApprovalRow, Db, WorkspaceRow } from '../store/schema/schema.ts';
import { activeApply, getWorkspace } from '../store/workspaces/workspaces.ts';
import { staleFrom } from './stale.ts';

/**
 * The one way in which a job is made, whoever asks: a person, a rule, a schedule. What is refused is refused with a
 * Failure before anything is written, so that whoever asked may write down the refusal in the same transaction.
 */

export interface QueueDeps {
  /** A job may have become claimable, or a deadline has to be kept. */
  wake(): void;
  /** Of what a policy wants asked, in milliseconds. */
  readonly approvalTtlMs: number;
}

/** For whom a job is made. */
export interface Asker {
  readonly trigger: JobTrigger;
  readonly requestedBy: string;
  /** The asking chain, the root first: none of them may decide about it. */
  readonly owners: readonly string[];
  /** Of a job that a rule made; it follows from what is run otherwise. */
  readonly runbook?: string | undefined;
}

/** The yes that a job needs before it is queued, asked of people. */
export interface Gate {
  readonly origin: Origin;
  readonly ttlMs: number;
  /** Of the origin `alert`: the event, its rule, and when that matched, in milliseconds since the epoch. */
  readonly alert?: string;
  readonly rule?: string;
  readonly matchedAt?: number;
  /** Whether the rule allows that one tap approves its command. */
  readonly oneTap?: boolean;
  /** Of the origin `schedule`: its name. */
  readonly schedule?: string;
}

export type Queued =
  | {
      readonly state: 'queued';
      readonly jobId: string;
      /** Nobody and no policy looked at it: the audit row says so. */ readonly ungated: boolean;
    }
  | { readonly state: 'awaiting_approval'; readonly jobId: string; readonly approval: ApprovalRow };

/** What is run of it, and how. */
export interface CommandRequest extends CommandSpec {
  readonly privileged: boolean;
  readonly timeoutMs: number;
}

/** Throws not_found for an inventory and invalid_argument for a limit that name nothing. */
export async function queueCommand(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  request: CommandRequest,
  gate: Gate | null,
): Promise<Queued> {
  const { inventory, limit, command, egressPorts, privileged, timeoutMs } = request;
  requireInventory(inventory);
  requireLimit(inventory, limit);
  const spec: CommandSpec = { inventory, limit, command, egressPorts };
  const job: NewJob = {
    ...newJob(tx, asker, KINDS.command.runbook(spec)),
    kind: 'command',
    source: null,
    workspace: null,
    concurrencyKey: null,
    privileged,
    spec: JSON.stringify(spec),
    timeoutMs,
  };
  return gate === null ? queue(tx, deps, job, false) : ask(tx, deps, job, gate, null);
}

export interface WorkspaceRequest {
  readonly kind: WorkspaceKind;
  readonly workspace: string;
  /** The saved plan that an apply carries out; null for a fresh run. */
  readonly plan: string | null;
  /** Variable to `<project>/<secret>`; the caller has made sure that each is there. */
  readonly runSecrets: Readonly<Record<string, string>>;
  readonly detailedExitcode?: boolean;
  readonly timeoutMs: number;
}

/**
 * A plan or drift run is queued; an apply or destroy as the table of moves (`decideApply`) and the policy of the
 * workspace say, and `gate` is asked beside them. Throws what is refused: not_found, conflict, stale_plan with
 * `stale`, concurrency_held.
 */
export async function queueWorkspaceRun(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  request: WorkspaceRequest,
  gate: Gate | null,
): Promise<Queued> {
  const { kind } = request;
  const workspace = await enterWorkspace(tx, request.workspace);
  if (!isChanging(kind)) {
    const job = newRun(tx, asker, workspace, request);
    return gate === null ? queue(tx, deps, job, false) : ask(tx, deps, job, gate, null);
  }
  const artifact = request.plan === null ? null : await planOf(tx, workspace, request.plan);
  const stale = artifact === null ? null : staleFrom(artifact, workspace);
  const decision = decideApply({
    kind,
    plan: artifact === null ? null : await savedPlanFacts(tx.db, artifact, stale !== null),
    requireSavedPlan: workspace.require_saved_plan === 1,
    protectDestroy: workspace.protect_destroy === 1,
    holder: (await activeApply(tx.db, workspace.name))?.id ?? null,
  });
  if (decision.move === 'refuse')
    throw new Failure(decision.code, decision.message, decision.code === 'stale_plan' ? { stale } : {});
  const job = newRun(tx, asker, workspace, request);
  if (gate !== null) return ask(tx, deps, job, gate, artifact);
  if (decision.move === 'queue') return queue(tx, deps, job, decision.ungated);
  return ask(tx, deps, job, { origin: 'manual', ttlMs: deps.approvalTtlMs }, artifact);
}

/** What a rule or a schedule does, as a job. Throws as the functions above, and invalid_argument for a time-out. */
export function queueAction(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  action: Exclude<Action, { kind: 'notify' }>,
  gate: Gate | null,
): Promise<Queued> {
  const timeoutMs =
    action.timeout === null
      ? JOB_TIMEOUT_DEFAULT_MS
      : requireDuration('timeout', action.timeout, 1_000, JOB_TIMEOUT_MAX_MS);
  if (action.kind === 'command') {
    const { inventory, limit, command } = action;
    return queueCommand(
      tx,
      deps,
      asker,
      { inventory, limit, command, egressPorts: [], privileged: false, timeoutMs },
      gate,
    );
  }
  const { kind, workspace } = action;
  return queueWorkspaceRun(tx, deps, asker, { kind, workspace, plan: null, runSecrets: {}, timeoutMs }, gate);
}

/**
 * Reads the workspace, and holds its key: until this write ends nobody else enters its queue or changes it. Throws
 * not_found.
 */
export async function enterWorkspace(tx: Tx, name: string): Promise<WorkspaceRow> {
  await tx.dialect.lockKey(tx.db, workspaceKey(name));
  return getWorkspace(tx.db, name);
}

function newJob(tx: Tx, asker: Asker, runbook: string) {
  return {
    id: newId('job', tx.now),
    state: 'queued',
    runbook: asker.runbook ?? runbook,
    trigger: asker.trigger,
    createdAt: tx.now,
    requestedBy: asker.requestedBy,
    owners: asker.owners,
    redriveOf: null,
  } as const;
}

function newRun(
  tx: Tx,
  asker: Asker,
  workspace: WorkspaceRow,
  { kind, plan, runSecrets, detailedExitcode, timeoutMs }: WorkspaceRequest,
): NewJob {
  const detailed = detailedExitcode === true ? { detailedExitcode } : {};
  const spec: WorkspaceSpec = { workspace: workspace.name, plan, runSecrets, ...detailed };
  return {
    ...newJob(tx, asker, KINDS[kind].runbook(spec)),
    kind,
    source: workspace.source,
    workspace: workspace.name,
    concurrencyKey: workspaceKey(workspace.name),
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs,
    ...(plan === null ? {} : { planArtifactId: plan }),
  };
}

async function queue(tx: Tx, deps: QueueDeps, job: NewJob, ungated: boolean): Promise<Queued> {
  await insertJob(tx, job);
  tx.afterCommit(() => deps.wake());
  return { state: 'queued', jobId: job.id, ungated };
}

/**
 * The job waits, and with it an approval; of a saved plan it names exactly the one that was made: its digest and its
 * serial.
 */
async function ask(tx: Tx, deps: QueueDeps, job: NewJob, gate: Gate, artifact: ArtifactFacts | null): Promise<Queued> {
  const approval = await insertApproval(tx, {
    jobId: job.id,
    kind: job.kind,
    policy: 'require_approval',
    workspace: job.workspace,
    runbook: job.runbook,
    planArtifactId: artifact?.id ?? null,
    planDigest: artifact?.digest ?? null,
    planSerial: artifact?.serial ?? null,
    requestedBy: job.requestedBy,
    owners: job.owners,
    origin: gate.origin,
    alert: gate.alert ?? null,
    rule: gate.rule ?? null,
    matched_at: gate.matchedAt ?? null,
    schedule: gate.schedule ?? null,
    one_tap: gate.oneTap === true ? 1 : 0,
    ttlMs: gate.ttlMs,
  });
  await insertJob(tx, { ...job, state: 'awaiting_approval', expiresAt: approval.expires_at });
  // The daemon has a new deadline to keep.
  tx.afterCommit(() => deps.wake());
  return { state: 'awaiting_approval', jobId: job.id, approval };
}

/**
 * Held: an approval pins the digest that it has now, and a rotation of the key changes that. A plan of another
 * workspace is not there for this one.
 */
async function planOf(tx: Tx, workspace: WorkspaceRow, id: string): Promise<ArtifactFacts> {
  const artifact = await holdArtifact(tx, id);
  if (artifact !== undefined && artifact.workspace === workspace.name) return artifact;
  throw new Failure('not_found', `There is no saved plan ${id} of the workspace ${workspace.name}.`);
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
