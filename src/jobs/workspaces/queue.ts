import { Failure } from '../../domain/failure.ts';
import { decideApply, type SavedPlanFacts } from '../../domain/workspaces/apply.ts';
import { WORKSPACE_ROWS } from '../../domain/workspaces/kinds.ts';
import { isChanging, workspaceKey, type WorkspaceKind, type WorkspaceSpec } from '../../domain/workspaces/workspace.ts';
import { pendingForArtifact } from '../../store/approvals/approvals.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { strictRefusal } from '../../store/gate/gate.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import type { Db, WorkspaceRow } from '../../store/schema/schema.ts';
import { type ArtifactFacts, holdArtifact } from '../../store/workspaces/artifacts.ts';
import { activeApply, getWorkspace } from '../../store/workspaces/workspaces.ts';
import { askFirst, newJob, type Queued, type Queueing, queueJob, queueOrAsk } from '../queue.ts';
import { staleFrom } from './stale.ts';

interface WorkspaceRequest {
  readonly kind: WorkspaceKind;
  readonly workspace: string;
  /** The saved plan that an apply carries out; null for a fresh run. */
  readonly plan: string | null;
  /** Variable to `<project>/<secret>`; the caller has checked that each exists. */
  readonly runSecrets: Readonly<Record<string, string>>;
  readonly detailedExitcode?: boolean;
  readonly timeoutMs: number;
}

/**
 * Queues a plan or drift run. An apply or destroy follows the decision table (`decideApply`), the policy of the
 * workspace and `gate`. Throws refusals: not_found, conflict, stale_plan with `stale`, concurrency_held; forbidden for
 * rows that somebody changed.
 */
export async function queueWorkspaceRun(queueing: Queueing, request: WorkspaceRequest): Promise<Queued> {
  const { tx, deps, gate } = queueing;
  const { kind } = request;
  const entered = await enterWorkspace(tx, request.workspace);
  // Nothing is decided by its row here, and one bad row must not end a drift check of all.
  if (!isChanging(kind)) return queueOrAsk(queueing, newRun(queueing, entered, request));
  const workspace = await checkTag(tx, 'workspaces', entered);
  const refusal = request.plan === null ? await strictRefusal(tx, workspace) : null;
  if (refusal !== null) throw new Failure('conflict', `Nothing was queued: ${refusal}.`);
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
  const job = newRun(queueing, workspace, request);
  if (gate !== null) return askFirst(queueing, job, gate, artifact);
  if (decision.move === 'queue') return queueJob(queueing, job, decision.ungated);
  return askFirst(queueing, job, { origin: 'manual', ttlMs: deps.approvalTtlMs }, artifact);
}

/**
 * Reads the workspace and locks its key: until this write ends no other write enters its queue or changes it. Throws
 * not_found.
 */
export async function enterWorkspace(tx: Tx, name: string): Promise<WorkspaceRow> {
  await tx.dialect.lockKey(tx.db, workspaceKey(name));
  return getWorkspace(tx.db, name);
}

function newRun(
  queueing: Queueing,
  workspace: WorkspaceRow,
  { kind, plan, runSecrets, detailedExitcode, timeoutMs }: WorkspaceRequest,
): NewJob {
  const detailed = detailedExitcode === true ? { detailedExitcode } : {};
  const spec: WorkspaceSpec = { workspace: workspace.name, plan, runSecrets, ...detailed };
  return {
    ...newJob(queueing, WORKSPACE_ROWS[kind].runbook(spec)),
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

/**
 * Locked: an approval pins the current digest, and a rotation of the key changes it. A plan of another workspace is not
 * found.
 */
async function planOf(tx: Tx, workspace: WorkspaceRow, id: string): Promise<ArtifactFacts> {
  const artifact = await holdArtifact(tx, id);
  if (artifact !== undefined && artifact.workspace === workspace.name) return checkTag(tx, 'artifacts', artifact);
  throw new Failure('not_found', `The workspace ${workspace.name} has no saved plan ${id}.`);
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
