import { hash } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { hasMoved } from '../domain/plan.ts';
import type { SavedPlan, WorkspaceMaterials, WorkspaceSpec } from '../domain/workspace.ts';
import { newId } from '../lib/id.ts';
import type { Keyring } from '../lib/seal.ts';
import type { SourceFetcher } from '../operations/services.ts';
import { findApprovalOfJob } from '../store/approvals.ts';
import { consume, getArtifact } from '../store/artifacts.ts';
import type { JobRow, WorkspaceRow } from '../store/schema.ts';
import { openSealed, planLabel, stateLabel } from '../store/seal.ts';
import { readSecrets } from '../store/secrets.ts';
import { findSource } from '../store/sources.ts';
import { newestState } from '../store/states.ts';
import type { Store } from '../store/store.ts';
import { getWorkspace } from '../store/workspaces.ts';

/** What gathers the inputs of a run. */
export interface InputDeps {
  readonly store: Store;
  readonly keyring: () => Promise<Keyring>;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'fetch'>;
}

/** What a run gets beside its row. In memory only: nothing of it is written before the run has its directory. */
export interface RunInputs {
  readonly secrets: ReadonlyMap<string, Buffer>;
  readonly workspace: WorkspaceMaterials | null;
  /** What the results are sealed with: taken before the run, so that nothing it made is lost for want of a key. */
  readonly ring: Keyring | null;
}

/** Of a job that needs none. */
export const NO_INPUTS: RunInputs = { secrets: new Map(), workspace: null, ring: null };

/** The inputs of a job that was claimed. Throws Failure, with words for the job's output, where the run must not start. */
export async function gatherInputs(deps: InputDeps, job: JobRow): Promise<RunInputs> {
  if (job.workspace === null) return NO_INPUTS;
  const { db } = deps.store;
  const spec = JSON.parse(job.spec) as WorkspaceSpec;
  const [ring, workspace] = await Promise.all([deps.keyring(), getWorkspace(db, job.workspace)]);
  const secrets = await readSecrets(db, ring, spec.runSecrets);
  const tree = await treeOf(deps, workspace);
  const state = await openState(deps.store, ring, workspace.name);
  // Last, because it is used up by being opened: what is away for a moment must not cost a plan and its approval.
  const plan = spec.plan === null ? null : await openPlan(deps, ring, job, spec.plan, workspace);
  const materials: WorkspaceMaterials = {
    ...tree,
    fromSource: workspace.source !== null,
    artifactId: newId('art', job.started_at ?? job.created_at),
    state,
    plan,
  };
  return { secrets, workspace: materials, ring };
}

async function treeOf({ store, sources }: InputDeps, workspace: WorkspaceRow): Promise<{ tree: string; root: string }> {
  if (workspace.source === null) return { tree: await directoryOf(sources, workspace), root: '' };
  const source = await findSource(store.db, workspace.source);
  if (source === undefined) throw new Failure('not_found', `There is no source ${workspace.source}.`);
  const here = await sources.treeOf(source);
  if (here !== null) return { tree: here, root: workspace.path };
  // The machine that fetched it was another one: the commit that it noted is what runs.
  if (source.commit_id !== null) await sources.fetch({ ...source, ref: source.commit_id });
  const fetched = await sources.treeOf(source);
  if (fetched === null) throw new Failure('unavailable', `The files of source ${source.name} are not on this machine: svc source sync ${source.name}`);
  return { tree: fetched, root: workspace.path };
}

/** What is there now may be another directory than when it was named: the service's own is never copied into a run. */
async function directoryOf(sources: InputDeps['sources'], { name, path }: WorkspaceRow): Promise<string> {
  const tree = await sources.treeOf({ name, kind: 'dir', location: path, commit_id: null });
  if (tree === null) throw new Failure('conflict', `The directory of workspace ${name} is gone, or is one that no run may take its files from.`);
  return tree;
}

async function openState(store: Store, ring: Keyring, workspace: string): Promise<Uint8Array | null> {
  const row = await newestState(store.db, workspace);
  if (row === undefined) return null;
  return openSealed(ring, stateLabel(row), row.sealed, `version ${row.version} of the state of ${workspace} can not be used`, 'Nothing was run.');
}

/** Looks that a plan that was being sealed anew at the first one is not taken for an altered one. */
const LOOKS = 2;

/** The plan as it was sealed, and asked about where somebody was. */
async function readUnaltered(store: Store, jobId: string, id: string): Promise<Awaited<ReturnType<typeof getArtifact>>> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const artifact = await getArtifact(store.db, id);
    const asked = await findApprovalOfJob(store.db, jobId);
    const digest = hash('sha256', artifact.sealed);
    if (digest === artifact.digest && (asked === undefined || asked.plan_digest === digest)) return artifact;
  }
  throw new Failure('conflict', `Integrity: plan ${id} is not what was sealed: it is incomplete or was altered. Nothing was run.`);
}

/**
 * Opens a saved plan for the one run that may carry it out: it is marked as used before anything runs, and has to be
 * what was asked about, unaltered, and made from the state that is still the newest.
 */
async function openPlan({ store }: InputDeps, ring: Keyring, job: JobRow, id: string, workspace: WorkspaceRow): Promise<SavedPlan> {
  const artifact = await readUnaltered(store, job.id, id);
  const { serial, lineage } = artifact;
  if (artifact.workspace !== workspace.name) throw new Failure('conflict', `Integrity: plan ${id} belongs to another workspace. Nothing was run.`);
  if (!(await store.write((tx) => consume(tx, id, job.id)))) throw new Failure('conflict', `Plan ${id} was run before: a plan runs once.`);
  if (hasMoved(artifact, workspace)) {
    throw new Failure('stale_plan', `The plan is stale: it was made from serial ${serial}, the state is at serial ${workspace.serial}. Nothing was run.`);
  }
  return {
    file: openSealed(ring, planLabel(artifact), artifact.sealed, `plan ${id} can not be used`, 'Nothing was run.'),
    treeDigest: artifact.tree_digest,
    needsInit: artifact.needs_init === 1,
    ownBackend: artifact.own_backend === 1,
    serial,
    lineage,
  };
}
