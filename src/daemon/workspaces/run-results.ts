import { hash } from 'node:crypto';
import {
  isChanging,
  type MadePlan,
  type StatePosition,
  type WorkspaceResult,
} from '../../domain/workspaces/workspace.ts';
import { sealPlanView } from '../../operations/approvals/plan-view.ts';
import type { RunOutcome } from '../../runners/runner.ts';
import { insertArtifact, type NewArtifact, release } from '../../store/workspaces/artifacts.ts';
import { fenceOf, recordArtifact } from '../../store/jobs/claims.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { noteDrift } from '../../store/jobs/outcomes.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { planLabel } from '../../store/secrets/seal.ts';
import {
  getWorkspace,
  moveWorkspace,
  recordBackend,
  recordDrift,
  recordPlan,
} from '../../store/workspaces/workspaces.ts';
import { recordMove } from '../jobs/job-transitions.ts';
import type { WriteResult } from '../jobs/run-support.ts';
import { recordChange } from './movers.ts';
import { packPlan } from './plan-content.ts';
import type { RunInputs } from './run-inputs.ts';

/**
 * Prepares what the end of a run writes. It is sealed before the transaction, because the transaction blocks every
 * writer.
 */
export async function readyResult(
  job: JobRow,
  inputs: RunInputs,
  { result: found }: RunOutcome<WorkspaceResult>,
): Promise<WriteResult> {
  const name = job.workspace ?? '';
  if (found === undefined) return (tx) => writeUnfound(tx, job, name);
  const artifact = found.made === null ? null : await artifactOf(job, inputs, found.made, found.ownBackend);
  return async (tx) => {
    await recordBackend(tx, name, found.ownBackend);
    if (found.position !== null && found.ownBackend) await writePosition(tx, job, name, found.position);
    if (artifact !== null) await writeArtifact(tx, job, artifact);
    if (found.drift !== null) await writeDrift(tx, job, name, found.drift);
    if (isChanging(job.kind)) await recordChange(tx, name, job);
  };
}

/** For a run that ended without a result. Releases a plan whose apply never started. */
async function writeUnfound(tx: Tx, job: JobRow, name: string): Promise<void> {
  if (isChanging(job.kind)) await recordChange(tx, name, job);
  const { leader_pid: leader } = await getJob(tx.db, job.id);
  if (job.plan_artifact_id !== null && isChanging(job.kind) && leader === null)
    await release(tx, job.plan_artifact_id, job.id);
}

/**
 * Records the position of the state in the root's own backend. A serial that no run of the service made was made
 * outside the service.
 */
async function writePosition(tx: Tx, job: JobRow, name: string, position: StatePosition): Promise<void> {
  const workspace = await getWorkspace(tx.db, name);
  if (workspace.serial === position.serial && workspace.lineage === position.lineage) return;
  if (workspace.serial === null && position.lineage === '') return;
  const mover = isChanging(job.kind) ? { byJob: job.id, via: job.trigger } : { byJob: null, via: null };
  await moveWorkspace(tx, name, { ...position, ...mover });
}

async function artifactOf(
  job: JobRow,
  { secretsUsed, ring, materials }: RunInputs,
  made: MadePlan,
  ownBackend: boolean,
): Promise<NewArtifact> {
  const { planned, summary, view } = made.plan;
  const named = {
    id: materials.artifactId,
    workspace: job.workspace ?? '',
    job_id: job.id,
    serial: made.before.serial,
    lineage: made.before.lineage,
    tree_digest: made.treeDigest,
    verdict: made.verdict,
    secrets: secretsUsed,
  };
  const sealed = ring.seal(planLabel(named), packPlan(made));
  return {
    ...named,
    needs_init: made.needsInit ? 1 : 0,
    own_backend: ownBackend ? 1 : 0,
    verdict_reason: made.verdictReason,
    destroys: planned.destroys.length,
    changes: planned.changes.length,
    creates: planned.creates.length,
    summary,
    sealed,
    digest: hash('sha256', sealed),
    sealed_view: await sealPlanView(ring, named, view),
    key_id: ring.activeId,
  };
}

async function writeArtifact(tx: Tx, job: JobRow, artifact: NewArtifact): Promise<void> {
  await insertArtifact(tx, artifact);
  await recordArtifact(tx, job.id, artifact.id);
  await recordPlan(tx, artifact.workspace, job.id);
  const { workspace, serial, digest, verdict, destroys, changes: changed, creates } = artifact;
  const detail = { job_id: job.id, workspace, serial, digest, verdict, destroys, changes: changed, creates };
  recordMove(tx, fenceOf(job).daemonId, 'artifact.seal', artifact.id, detail);
}

/** An event reports the drift, and the event of the job's end reports that it is over. */
async function writeDrift(
  tx: Tx,
  job: JobRow,
  name: string,
  drift: NonNullable<WorkspaceResult['drift']>,
): Promise<void> {
  const before = (await getWorkspace(tx.db, name)).drift;
  await recordDrift(tx, name, drift);
  if (drift === 'drifted' || before === 'drifted')
    await noteDrift(tx, job.id, drift === 'drifted' ? 'firing' : 'resolved');
}
