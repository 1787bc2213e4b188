import type { Tx } from '../engine/tx.ts';
import type { Db, StateRow } from '../schema/schema.ts';

/** Versions of a state that are kept: each is a way back, and a state is some kilobytes in most cases. */
export const STATES_KEPT = 50;

/** A version of a state without its content. */
type StateFacts = Omit<StateRow, 'sealed'>;

const FACTS = [
  'workspace',
  'version',
  'serial',
  'lineage',
  'resources',
  'job_id',
  'key_id',
  'created_at',
] as const satisfies readonly (keyof StateFacts)[];

/** The state that a run of this workspace starts from; undefined before the first. */
export function newestState(db: Db, workspace: string): Promise<StateRow | undefined> {
  return db
    .selectFrom('states')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('version', '>', 0)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** One version; undefined where it is not kept. */
export function findState(db: Db, workspace: string, version: number): Promise<StateRow | undefined> {
  return db
    .selectFrom('states')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** The versions of one position: more than one where two runs went on from the same state. */
export function listStatesAt(
  db: Db,
  workspace: string,
  { serial, lineage }: Pick<StateRow, 'serial' | 'lineage'>,
): Promise<StateRow[]> {
  return db
    .selectFrom('states')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('serial', '=', serial)
    .where('lineage', '=', lineage)
    .execute();
}

/** The versions that are kept, newest first, then those below 0, which were set aside: at most as many again. */
export function listStates(db: Db, workspace: string, limit = 2 * STATES_KEPT): Promise<StateFacts[]> {
  return db
    .selectFrom('states')
    .select(FACTS)
    .where('workspace', '=', workspace)
    .orderBy('version', 'desc')
    .limit(limit)
    .execute();
}

/** A state that a run left. */
export interface NewState {
  readonly workspace: string;
  readonly serial: number;
  readonly lineage: string;
  /** How many resources it holds. */
  readonly resources: number;
  readonly jobId: string | null;
  readonly keyId: string;
  /** For a person to bring where it belongs: it gets a version below 0, and no run starts from it. */
  readonly aside?: boolean;
  /** Seals the content under a label that names the version. */
  seal(version: number): Uint8Array;
}

/**
 * Keeps a state as the newest version; returns its number. A job has one version: a later write replaces its earlier
 * one. Deletes the oldest versions above the limit. The caller has locked the key of the workspace, so that a number is
 * given once.
 */
export async function keepState(tx: Tx, state: NewState): Promise<number> {
  const { workspace, serial, lineage, resources, jobId, keyId, aside = false } = state;
  const newest = await lastOf(tx.db, workspace, aside);
  const again = newest !== undefined && jobId !== null && newest.job_id === jobId;
  const next = (newest?.version ?? 0) + (aside ? -1 : 1);
  const version = again ? newest.version : next;
  const content = { serial, lineage, resources, sealed: state.seal(version), key_id: keyId, created_at: tx.now };
  if (again) {
    await tx.db
      .updateTable('states')
      .set(content)
      .where('workspace', '=', workspace)
      .where('version', '=', version)
      .execute();
    return version;
  }
  await tx.db
    .insertInto('states')
    .values({ workspace, version, job_id: jobId, ...content })
    .execute();
  const old = tx.db.deleteFrom('states').where('workspace', '=', workspace);
  if (aside)
    await old
      .where('version', '<', 0)
      .where('version', '>=', version + STATES_KEPT)
      .execute();
  else
    await old
      .where('version', '>', 0)
      .where('version', '<=', version - STATES_KEPT)
      .execute();
  return version;
}

/** The newest version, or the one that was set aside last. */
function lastOf(db: Db, workspace: string, aside: boolean): Promise<Pick<StateRow, 'version' | 'job_id'> | undefined> {
  const ofWorkspace = db.selectFrom('states').select(['version', 'job_id']).where('workspace', '=', workspace).limit(1);
  const ordered = aside
    ? ofWorkspace.where('version', '<', 0).orderBy('version')
    : ofWorkspace.where('version', '>', 0).orderBy('version', 'desc');
  return ordered.executeTakeFirst();
}

/** The version that was set aside last, if that was after `since`; null otherwise. */
export async function findAside(db: Db, workspace: string, since: number): Promise<number | null> {
  const row = await db
    .selectFrom('states')
    .select('version')
    .where('workspace', '=', workspace)
    .where('version', '<', 0)
    .where('created_at', '>', since)
    .orderBy('version')
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? null;
}
