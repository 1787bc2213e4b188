import { hash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import { runObstacle } from '../../domain/workspaces/apply.ts';
import { hasMoved } from '../../domain/workspaces/plan.ts';
import {
  isChanging,
  type SavedPlan,
  type WorkspaceMaterials,
  type WorkspaceSpec,
} from '../../domain/workspaces/workspace.ts';
import { readInputs, type UsedSecret } from '../../domain/workspaces/inputs.ts';
import { keptInitsDir } from '../../runners/terraform/init/kept-inits.ts';
import { approvedTree } from '../../jobs/pins/directory.ts';
import { refuseChangedRow } from '../../jobs/pins/settings.ts';
import { newId } from '../../lib/id.ts';
import type { Keyring } from '../../lib/seal.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { type Checked, checkTag } from '../../store/engine/tags/tags.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { consume, getArtifact } from '../../store/workspaces/artifacts.ts';
import type { ArtifactRow, Db, JobRow, WorkspaceRow } from '../../store/schema/schema.ts';
import { openSealed, planLabel, stateLabel } from '../../store/secrets/seal.ts';
import { readKnownSecrets, readSecrets, secretVersions } from '../../store/secrets/secrets.ts';
import { findAside, newestState } from '../../store/workspaces/states.ts';
import type { Store } from '../../store/store.ts';
import { getWorkspace, keepWorkspaceDirectory, recordSecrets } from '../../store/workspaces/workspaces.ts';
import { dependenciesOf, type RunDeps } from '../jobs/run-support.ts';
import { unpackPlan } from './plan-content.ts';
import { notedOf } from './states.ts';
import { knownTree } from '../sources/known-tree.ts';
import { sourceTree } from '../sources/source-tree.ts';
import { placeOfWorkspace } from '../../store/sources/source-place.ts';

/** The inputs of a workspace run, and the keys for its results. */
export interface RunInputs {
  readonly secrets: ReadonlyMap<string, Buffer>;
  /** JSON: the secrets and their versions, by variable, for the plan that is made with them. */
  readonly secretsUsed: ArtifactRow['secrets'];
  /** Secrets of earlier runs of the workspace: its state may contain them. */
  readonly hidden: readonly Buffer[];
  readonly materials: WorkspaceMaterials;
  /** Seals the results. Read before the run, so that no result is lost because a key is missing. */
  readonly ring: Keyring;
}

/**
 * Collects the inputs of a claimed job. Throws Failure, with a message for the job's output, if the run must not start.
 * `signal` ends long work.
 */
export async function gatherInputs(
  deps: RunDeps,
  job: JobRow,
  spec: WorkspaceSpec,
  signal: AbortSignal,
): Promise<RunInputs> {
  const { db } = deps.store;
  const [ring, workspace] = await Promise.all([deps.keyring(), checkedWorkspace(deps, job.workspace ?? '')]);
  refuseChangedRow(job, 'workspace', workspace);
  const artifact = spec.plan === null ? null : await readUnaltered(deps.store, job.id, spec.plan);
  refuseUndecided(job, workspace, artifact);
  const inputs = readInputs(workspace.inputs);
  // A plan has the values of the workspace already; the secrets that it was made with are listed with it.
  const remembered = artifact === null ? inputs.runSecrets : await plannedSecrets(db, artifact);
  const given = artifact === null ? { ...remembered, ...spec.runSecrets } : { ...spec.runSecrets, ...remembered };
  const secrets = await readSecrets(db, ring, given);
  const hidden = await hiddenValues(deps.store, ring, workspace, Object.values(given));
  const tree = await treeOf(deps, job, workspace, signal);
  const stored = await openState(deps.store, ring, workspace);
  // Last, because opening uses the plan up: an input that is missing for a moment must not cost an approved plan.
  const plan = artifact === null ? null : openPlan(ring, await consumePlan(deps, job, artifact, workspace));
  const secretsUsed = await usedSecrets(db, given);
  const materials: WorkspaceMaterials = {
    ...tree,
    // A workspace that was removed and added again is another one.
    kept: {
      folder: keptInitsDir(deps.runsDir),
      workspace: workspace.name,
      facts: JSON.stringify([workspace.name, workspace.created_at, secretsUsed]),
    },
    fromSource: workspace.source !== null,
    artifactId: newId('art', job.started_at ?? job.created_at),
    ...stored,
    ownBackend: workspace.own_backend === null ? null : workspace.own_backend === 1,
    aside: await findAside(db, workspace.name, workspace.moved_at ?? 0),
    inputs,
    policy: { approveWhen: workspace.approve_when, denyWhen: workspace.deny_when },
    plan,
  };
  return { secrets, secretsUsed, hidden, materials, ring };
}

/** Throws not_found, and forbidden for a row that was changed in the database. */
async function checkedWorkspace({ store }: RunDeps, name: string): Promise<Checked<WorkspaceRow>> {
  return checkTag(store, 'workspaces', await getWorkspace(store.db, name));
}

/** Throws conflict for a run that its workspace or its plan does not let start. */
function refuseUndecided(job: JobRow, workspace: Checked<WorkspaceRow>, artifact: PlanRow | null): void {
  const { kind, initial_state: initial } = job;
  if (!isChanging(kind)) return;
  const obstacle = runObstacle({
    kind,
    plan:
      artifact === null ? null : { id: artifact.id, verdict: artifact.verdict, verdictReason: artifact.verdict_reason },
    requireSavedPlan: workspace.require_saved_plan === 1,
    protectDestroy: workspace.protect_destroy === 1,
    // `checkOrder` has looked for the yes.
    wasAsked: initial === 'awaiting_approval',
  });
  if (obstacle !== null) throw new Failure('conflict', `${obstacle} Nothing was run.`);
}

async function treeOf(
  deps: RunDeps,
  job: JobRow,
  workspace: WorkspaceRow,
  signal: AbortSignal,
): Promise<Pick<WorkspaceMaterials, 'tree' | 'root' | 'mirror'>> {
  if (workspace.source === null) return { tree: await directoryOf(deps, job, workspace.name), root: '', mirror: null };
  const { tree, source } = await sourceTree(deps, { job, name: workspace.source }, signal);
  const dependencies = await dependenciesOf(deps, job, source);
  const mirror = dependencies?.hasProviders === true ? `${dependencies.path}/providers` : null;
  return { tree, root: workspace.path, mirror };
}

/** The path may be another directory since the workspace was added: the service's own is never copied into a run. */
async function directoryOf(deps: RunDeps, job: JobRow, name: string): Promise<Tree> {
  const { tree } = await knownTree(deps.store, {
    row: () => checkedWorkspace(deps, name),
    tree: (row) => deps.sources.treeOf(placeOfWorkspace(row)),
    keep: keepWorkspaceDirectory,
    operation: 'workspace.keep',
    target: name,
  });
  if (tree === null)
    throw new Failure(
      'conflict',
      `The directory of workspace ${name} is gone, or is one that no run may take its files from.`,
    );
  return approvedTree(job, tree, `workspace ${name}`);
}

async function usedSecrets(db: Db, given: Readonly<Record<string, string>>): Promise<ArtifactRow['secrets']> {
  const versions = await secretVersions(db, Object.values(given));
  const used = Object.entries(given).map(([variable, ref]): [string, UsedSecret] => [
    variable,
    { ref, version: versions.get(ref) ?? 0 },
  ]);
  return toJson(Object.fromEntries(used.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * The secrets that a plan was made with. A plan with a value that is no longer stored is refused, because that value
 * could not be removed from the output.
 */
async function plannedSecrets(
  db: Db,
  { id, secrets }: Pick<ArtifactRow, 'id' | 'secrets'>,
): Promise<Record<string, string>> {
  const used = Object.entries(fromJson(secrets));
  const versions = await secretVersions(
    db,
    used.map(([, { ref }]) => ref),
  );
  const changed = used.find(([, { ref, version }]) => versions.get(ref) !== version);
  if (changed !== undefined) {
    throw new Failure(
      'conflict',
      `The secret ${changed[1].ref} was set again or removed after plan ${id} was made with it: make a new ` +
        'plan. Nothing was run.',
    );
  }
  return Object.fromEntries(used.map(([variable, { ref }]) => [variable, ref]));
}

/** The secrets of earlier runs that this run does not get. Records those that it gets. */
async function hiddenValues(
  store: Store,
  ring: Keyring,
  workspace: Checked<WorkspaceRow>,
  given: readonly string[],
): Promise<Buffer[]> {
  const before = fromJson(workspace.secret_refs);
  if (given.some((ref) => !before.includes(ref))) await store.write((tx) => recordSecrets(tx, workspace.name, given));
  return readKnownSecrets(
    store.db,
    ring,
    before.filter((ref) => !given.includes(ref)),
  );
}

/** Where none is stored although one is noted, the files of the run have to bring it: its runner looks at them. */
async function openState(
  store: Store,
  ring: Keyring,
  row: Checked<WorkspaceRow>,
): Promise<Pick<WorkspaceMaterials, 'state' | 'noted'>> {
  const { name, own_backend: ownBackend } = row;
  if (ownBackend === 1) return { state: null, noted: null };
  const noted = notedOf(row);
  const newest = await newestState(store.db, name);
  if (newest === undefined) return { state: null, noted };
  if (ownBackend === 0 && noted !== null && (newest.serial !== noted.serial || newest.lineage !== noted.lineage)) {
    throw new Failure(
      'conflict',
      `Integrity: the newest state of ${name}, serial ${noted.serial}, is not there; version ${newest.version} has ` +
        `serial ${newest.serial}. Continue from a stored version or from a file: svc workspace restore ${name} ` +
        '--version N, or --file PATH. Nothing was run.',
    );
  }
  const state = openSealed(
    ring,
    stateLabel(newest),
    newest.sealed,
    `version ${newest.version} of the state of ${name} cannot be used`,
    `Continue from an older version or from a file: svc workspace restore ${name}. Nothing was run.`,
  );
  return { state, noted };
}

type PlanRow = Checked<Awaited<ReturnType<typeof getArtifact>>>;

/** The number of reads, so that a plan that is resealed during the first is not mistaken for an altered one. */
const LOOKS = 2;

/** The plan, if its row is ours and its sealed bytes are those that were recorded and approved. */
async function readUnaltered(store: Store, jobId: string, id: string): Promise<PlanRow> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const artifact = await getArtifact(store.db, id);
    const asked = await findApprovalOfJob(store.db, jobId);
    const digest = hash('sha256', artifact.sealed);
    if (digest === artifact.digest && (asked === undefined || asked.plan_digest === digest))
      return checkTag(store, 'artifacts', artifact);
  }
  throw new Failure(
    'conflict',
    `Integrity: plan ${id} is not what was sealed: it is incomplete or was altered. Make a new plan. Nothing was run.`,
  );
}

/**
 * Marks a saved plan as used by the only run that may apply it, before anything runs. Throws if it was used before,
 * belongs to another workspace, or was not made from the newest state.
 */
async function consumePlan(
  { store }: RunDeps,
  job: JobRow,
  artifact: PlanRow,
  workspace: WorkspaceRow,
): Promise<PlanRow> {
  const { id, serial } = artifact;
  if (artifact.workspace !== workspace.name)
    throw new Failure(
      'conflict',
      `Integrity: plan ${id} belongs to another workspace. Make a new plan. Nothing was run.`,
    );
  if (!(await store.write((tx) => consume(tx, id, job.id))))
    throw new Failure('conflict', `Plan ${id} was run before: a plan runs once. Make a new plan.`);
  if (hasMoved(artifact, workspace)) {
    throw new Failure(
      'stale_plan',
      `The plan is stale: it was made from serial ${serial}, the state is at serial ${workspace.serial}. ` +
        'Nothing was run.',
    );
  }
  return artifact;
}

function openPlan(ring: Keyring, artifact: PlanRow): SavedPlan {
  const { id, serial, lineage } = artifact;
  const advice = 'Make a new plan. Nothing was run.';
  return {
    ...unpackPlan(openSealed(ring, planLabel(artifact), artifact.sealed, `plan ${id} cannot be used`, advice)),
    treeDigest: artifact.tree_digest,
    needsInit: artifact.needs_init === 1,
    ownBackend: artifact.own_backend === 1,
    serial,
    lineage,
  };
}
