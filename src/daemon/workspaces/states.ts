import { isStateOf, type NotedPosition, type State, workspaceKey } from '../../domain/workspaces/workspace.ts';
import type { Keyring } from '../../lib/seal.ts';
import { findRunDir } from '../../runners/run-dir.ts';
import { resolveRunFolder } from '../../runners/run-files/run-files.ts';
import { TREE } from '../../runners/checkout/run-tree.ts';
import { backendOf } from '../../runners/terraform/root.ts';
import { ERRORED_STATE_FILE, readState } from '../../runners/terraform/state-file.ts';
import { isOwned } from '../../store/jobs/chunks.ts';
import type { Fence } from '../../store/jobs/claims.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { JobRow, StateRow, WorkspaceRow } from '../../store/schema/schema.ts';
import { stateLabel } from '../../store/secrets/seal.ts';
import { keepState, listStatesAt, newestState } from '../../store/workspaces/states.ts';
import { findWorkspace, getWorkspace, moveWorkspace } from '../../store/workspaces/workspaces.ts';
import type { CheckedJob } from '../jobs/checked-job.ts';
import type { RunDeps } from '../jobs/run-support.ts';
import { leaveMovers } from './movers.ts';

/** The states of roots that have no backend: no result of a run is lost. */

/** A state and what to seal it with. */
interface SealedState {
  readonly state: State;
  readonly ring: Keyring;
}

/**
 * Keeps the state of a running or ended run, also of one that has lost its job, unless another run has continued from
 * another state since: its resources exist, whichever run owns the row. A state that cannot become the newest is set
 * aside.
 */
export async function keepOfRun(tx: Tx, fence: Fence, job: JobRow, sealed: SealedState): Promise<{ owned: boolean }> {
  await holdKey(tx, job);
  const owned = await isOwned(tx, fence);
  if (owned) await write(tx, job, sealed, false);
  else await keepFound(tx, job, sealed);
  return { owned };
}

/** Keeps a state from the directory of a run, unless it is already kept. */
export async function keepFound(
  tx: Tx,
  job: JobRow,
  sealed: SealedState & { readonly aside?: boolean },
): Promise<void> {
  const { state, aside = false } = sealed;
  await holdKey(tx, job);
  const newest = await newestState(tx.db, job.workspace ?? '');
  const noted = newest === undefined ? notedOf(await getWorkspace(tx.db, job.workspace ?? '')) : null;
  const follows =
    newest === undefined
      ? noted === null || isStateOf(noted, state)
      : newest.lineage === state.lineage && newest.serial < state.serial;
  // A state that is already kept is the one that the run started from, or one that the run stored.
  for (const row of await listStatesAt(tx.db, job.workspace ?? '', state)) if (isOf(row, sealed)) return;
  await write(tx, job, sealed, aside || !follows);
}

function isOf(row: StateRow, { state, ring }: SealedState): boolean {
  return ring.has(row.key_id) && Buffer.from(ring.open(stateLabel(row), row.sealed)).equals(state.bytes);
}

/** The state of the stored versions that the workspace has noted; null before the first, or with its own backend. */
export function notedOf({
  serial,
  lineage,
  own_backend: ownBackend,
  moved_by_job: byJob,
}: Pick<WorkspaceRow, 'serial' | 'lineage' | 'own_backend' | 'moved_by_job'>): NotedPosition | null {
  return serial === null || ownBackend === 1 ? null : { serial, lineage: lineage ?? '', isOurs: byJob !== null };
}

/**
 * Keeps the state that the files of a run brought as the newest version, before anything is made from it. No job made
 * it, so the state that this run makes is another version.
 */
export async function keepBrought(tx: Tx, fence: Fence, job: JobRow, sealed: SealedState): Promise<{ owned: boolean }> {
  await holdKey(tx, job);
  const owned = await isOwned(tx, fence);
  const newest = await newestState(tx.db, job.workspace ?? '');
  // Where the write is tried again, the first attempt may have been committed.
  if (owned && (newest === undefined || !isOf(newest, sealed))) await insert(tx, job, sealed, { jobId: null });
  return { owned };
}

/** Sets a state aside: a person must move it to its backend. */
export async function setAside(tx: Tx, _: Fence, job: JobRow, sealed: SealedState): Promise<{ owned: boolean }> {
  await holdKey(tx, job);
  await write(tx, job, sealed, true);
  return { owned: true };
}

/** A run that has lost its job may meet its successor here: versions are counted by one of them at a time. */
async function holdKey(tx: Tx, job: JobRow): Promise<void> {
  await tx.dialect.lockKey(tx.db, workspaceKey(job.workspace ?? ''));
}

/** A version for each job: a run that changes a hundred things leaves one, not a hundred. */
async function write(tx: Tx, job: JobRow, sealed: SealedState, aside: boolean): Promise<void> {
  await insert(tx, job, sealed, { jobId: job.id, aside });
  if (!aside) await leaveMovers(tx, job);
}

/** `jobId`: of the job that made it; null for a state from outside. */
async function insert(
  tx: Tx,
  job: JobRow,
  { state, ring }: SealedState,
  { jobId, aside = false }: { readonly jobId: string | null; readonly aside?: boolean },
): Promise<void> {
  const workspace = job.workspace ?? '';
  const { serial, lineage, resources, bytes } = state;
  await keepState(tx, {
    workspace,
    serial,
    lineage,
    resources,
    jobId,
    keyId: ring.activeId,
    aside,
    seal: (version) => ring.seal(stateLabel({ workspace, version, serial, lineage }), bytes),
  });
  const via = jobId === null ? null : job.trigger;
  if (!aside) await moveWorkspace(tx, workspace, { serial, lineage, byJob: jobId, via });
}

/**
 * A state in the directory of a run. `aside`: it belongs to the root's own backend, and a person must move it there.
 */
interface FoundState extends SealedState {
  readonly aside: boolean;
}

/**
 * The state in the directory of an unfinished run; null where this machine has no such state, as after the death of
 * another machine. The processes of the run have ended before this is called.
 */
export async function findState({ store, keyring, runsDir }: RunDeps, job: CheckedJob): Promise<FoundState | null> {
  if (job.workspace === null) return null;
  const workspace = await findWorkspace(store.db, job.workspace);
  if (workspace === undefined) return null;
  const runDir = findRunDir(runsDir, job.id);
  const folder = await resolveRunFolder(runDir, `${TREE}/${workspace.source === null ? '' : workspace.path}`).catch(
    () => null,
  );
  if (folder === null) return null;
  const place = { runDir, folder };
  // A state that could not be written to its backend is newer than the one in the backend.
  const errored = await readState(place, ERRORED_STATE_FILE);
  const ownBackend = (await backendOf(place).catch(() => null)) !== null;
  const state = errored ?? (ownBackend ? null : await readState(place));
  return state === null ? null : { state, ring: await keyring(), aside: ownBackend };
}
