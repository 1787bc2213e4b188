import { Failure } from '../../domain/failure.ts';
import { OPEN_STATES } from '../../domain/jobs/job.ts';
import { CHANGING_KINDS, workspaceKey, type Drift } from '../../domain/workspaces/workspace.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { QUEUED, RUNNING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import type { Db, JobRow, WorkspaceRow } from '../schema/schema.ts';

export const findWorkspace = rowBy('workspaces', 'name');

/** Throws not_found for an unknown name. */
export async function getWorkspace(db: Db, name: string): Promise<WorkspaceRow> {
  return found(await findWorkspace(db, name), 'workspace', name);
}

/** All of them, by name. */
export function listWorkspaces(db: Db): Promise<WorkspaceRow[]> {
  return db.selectFrom('workspaces').selectAll().orderBy('name').execute();
}

/** Names behind `after`, all where that is null, in their order. */
export async function listWorkspaceNames(db: Db, after: string | null, limit: number): Promise<string[]> {
  const names = db.selectFrom('workspaces').select('name').orderBy('name').limit(limit);
  const rows = await (after === null ? names : names.where('name', '>', after)).execute();
  return rows.map(({ name }) => name);
}

/** The fields of a new workspace; runs determine the others. */
export type NewWorkspace = Pick<
  WorkspaceRow,
  'name' | 'source' | 'path' | 'approve_when' | 'deny_when' | 'require_saved_plan' | 'protect_destroy'
> &
  Partial<Pick<WorkspaceRow, 'inputs' | 'dir_kept' | 'unprotected'>>;

/** Throws duplicate for a name that is taken. */
export async function insertWorkspace(tx: Tx, workspace: NewWorkspace): Promise<WorkspaceRow> {
  const columns = {
    inputs: toJson({}),
    dir_kept: null,
    unprotected: null,
    ...workspace,
    serial: null,
    lineage: null,
    moved_by_job: null,
    moved_via: null,
    moved_at: null,
    own_backend: null,
    secret_refs: toJson([]),
    drift: 'unknown' as const,
    drift_checked_at: null,
    last_plan_job_id: null,
    last_apply_job_id: null,
    created_at: tx.now,
  };
  const row: WorkspaceRow = { ...columns, ...tagOf(tx.ring, 'workspaces', columns) };
  if (!(await insertRow(tx.db, 'workspaces', row, 'skip')))
    throw new Failure('duplicate', `name: a workspace with the name ${workspace.name} already exists.`);
  return row;
}

/** Changes the given columns. Throws not_found. */
export async function updateWorkspace(
  tx: Tx,
  name: string,
  changes: Partial<Omit<NewWorkspace, 'name'>>,
): Promise<WorkspaceRow> {
  if (Object.keys(changes).length > 0) await change(tx, name, () => changes);
  return getWorkspace(tx.db, name);
}

/** Notes what its directory is where `workspace` has nothing of this machine; false where its row changed. */
export function keepWorkspaceDirectory(
  tx: Tx,
  { name, path, dir_kept: before }: Pick<WorkspaceRow, 'name' | 'path' | 'dir_kept'>,
  dirKept: string,
): Promise<boolean> {
  return change(tx, name, (held) =>
    held.source === null && held.path === path && held.dir_kept === before ? { dir_kept: dirKept } : null,
  );
}

/** Sets, with the tag, what `columnsOf` answers about the row as it is now. False for null, and without such a row. */
async function change(
  tx: Tx,
  name: string,
  columnsOf: (held: WorkspaceRow) => Partial<WorkspaceRow> | null,
): Promise<boolean> {
  const now = tx.db.selectFrom('workspaces').selectAll().where('name', '=', name);
  const [held] = await tx.dialect.holdRows(now).execute();
  const columns = held === undefined ? null : columnsOf(held);
  if (held === undefined || columns === null) return false;
  const set = retagged(tx.ring, 'workspaces', held, columns);
  await tx.db.updateTable('workspaces').set(set).where('name', '=', name).execute();
  return true;
}

/** Deletes it with its states and its saved plans; its jobs and approvals stay as history. Throws not_found. */
export async function deleteWorkspace(tx: Tx, name: string): Promise<void> {
  const deleted = await tx.db.deleteFrom('workspaces').where('name', '=', name).returning('name').executeTakeFirst();
  found(deleted, 'workspace', name);
  await tx.db.deleteFrom('states').where('workspace', '=', name).execute();
  await tx.db.deleteFrom('artifacts').where('workspace', '=', name).execute();
  await forgetManaged(tx, 'workspace', name);
}

/** Of workspaces that a job is running on: name to the job's id. At most one job of a key runs. */
export async function lockedBy(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['workspace', 'id'])
    .where('state', '=', RUNNING)
    .where('workspace', 'is not', null)
    .where('concurrency_key', 'is not', null)
    .execute();
  return new Map(rows.map(({ workspace, id }) => [workspace ?? '', id]));
}

const runningOf = prepared<{ key: string }, { id: string }>((db, value) =>
  db.selectFrom('jobs').select('id').where('concurrency_key', '=', value('key')).where('state', '=', RUNNING),
);

/** As `lockedBy` for one workspace. */
export async function findLock(db: Db, name: string): Promise<string | null> {
  return (await runningOf(db, { key: workspaceKey(name) })).rows[0]?.id ?? null;
}

/** The job that occupies a workspace. */
type Holder = Pick<JobRow, 'id' | 'kind' | 'state' | 'requested_by'>;

// Two lookups, each with its own partial index: the history of a key may be long.
const changingJobs = prepared<{ key: string }, Holder>((db, value) => {
  const changing = db
    .selectFrom('jobs')
    .select(['id', 'kind', 'state', 'requested_by'])
    .where('concurrency_key', '=', value('key'))
    .where('kind', 'in', CHANGING_KINDS);
  return changing.where('state', '=', RUNNING).unionAll(changing.where('state', '=', QUEUED));
});

/**
 * The apply or destroy of this workspace that runs, else the oldest one that is queued. A caller that decides by it has
 * locked the key of the workspace, so that no other job enters the queue.
 */
export async function activeApply(db: Db, name: string): Promise<Holder | undefined> {
  const { rows } = await changingJobs(db, { key: workspaceKey(name) });
  return rows.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))[0];
}

function rank({ state }: Holder): number {
  return state === 'running' ? 0 : 1;
}

/** The oldest job of this workspace that has not ended, of whatever kind. */
export function findOpenJob(db: Db, name: string): Promise<Holder | undefined> {
  return db
    .selectFrom('jobs')
    .select(['id', 'kind', 'state', 'requested_by'])
    .where('concurrency_key', '=', workspaceKey(name))
    .where('state', 'in', OPEN_STATES)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** The current state of a workspace and the job that made it; nulls where no job of ours did. */
interface Move {
  readonly serial: number;
  readonly lineage: string;
  readonly byJob: string | null;
  readonly via: string | null;
}

/**
 * Notes a state that is another than the noted one. False, and who moved it before stays noted, when it is the same.
 */
export function moveWorkspace(tx: Tx, name: string, { serial, lineage, byJob, via }: Move): Promise<boolean> {
  return change(tx, name, (held) =>
    held.serial === serial && held.lineage === lineage
      ? null
      : { serial, lineage, moved_by_job: byJob, moved_via: via, moved_at: tx.now },
  );
}

export async function recordPlan(tx: Tx, name: string, jobId: string): Promise<void> {
  await tx.db.updateTable('workspaces').set({ last_plan_job_id: jobId }).where('name', '=', name).execute();
}

export async function recordApply(tx: Tx, name: string, jobId: string): Promise<void> {
  await tx.db.updateTable('workspaces').set({ last_apply_job_id: jobId }).where('name', '=', name).execute();
}

export async function recordDrift(tx: Tx, name: string, drift: Exclude<Drift, 'unknown'>): Promise<void> {
  await tx.db.updateTable('workspaces').set({ drift, drift_checked_at: tx.now }).where('name', '=', name).execute();
}

/** Whether the root has its own backend, as the last run found. */
export async function recordBackend(tx: Tx, name: string, own: boolean): Promise<void> {
  const value = own ? 1 : 0;
  await change(tx, name, (held) => (held.own_backend === value ? null : { own_backend: value }));
}

/** Adds to the secrets that runs of this workspace were ever given. */
export async function recordSecrets(tx: Tx, name: string, refs: readonly string[]): Promise<void> {
  await change(tx, name, ({ secret_refs: before }) => {
    const all = new Set([...fromJson(before), ...refs]);
    return { secret_refs: toJson([...all].toSorted()) };
  });
}
