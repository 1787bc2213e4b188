import { type RunApproval, STRICT } from '../../domain/gate/run-approval.ts';
import { Failure } from '../../domain/failure.ts';
import type { FetchedTree } from '../../domain/sources/source.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { findActionUser } from '../engine/action-users.ts';
import { passesTag, retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import { NO_RUN_APPROVAL, runApprovalColumns, runApprovalIn } from '../gate/gate.ts';
import type { Db, RunApprovalColumns, SourceRow } from '../schema/schema.ts';

export const findSource = rowBy('sources', 'name');

/** Throws not_found. */
export async function getSource(db: Db, name: string): Promise<SourceRow> {
  return found(await findSource(db, name), 'source', name);
}

/** By name. */
export function listSources(db: Db): Promise<SourceRow[]> {
  return db.selectFrom('sources').selectAll().orderBy('name').execute();
}

/** A source before it is tagged. */
export type NewSource = Omit<SourceRow, Optional | 'order_tag' | 'order_key_id'> & Partial<Pick<SourceRow, Optional>>;
type Optional = 'plugins' | 'dir_kept' | keyof RunApprovalColumns;

const DEFAULTS = { plugins: 0, dir_kept: null, ...NO_RUN_APPROVAL } as const;

/** Throws duplicate where the name is taken. */
export async function insertSource(tx: Tx, source: NewSource): Promise<SourceRow> {
  const columns = { ...DEFAULTS, ...source };
  const row = { ...columns, ...tagOf(tx.ring, 'sources', columns) };
  if (!(await insertRow(tx.db, 'sources', row, 'skip'))) throw sourceExists(row.name);
  return row;
}

/**
 * Replaces the source of the name; undefined without one. Which runs need an approval stays as it is, unless `source`
 * says it. With the time of the new one a fetch of the old one is not noted, and what was fetched for it is not used.
 */
export async function replaceSource(tx: Tx, source: NewSource): Promise<SourceRow | undefined> {
  const [held] = await tx.dialect
    .holdRows(tx.db.selectFrom('sources').selectAll().where('name', '=', source.name))
    .execute();
  if (held === undefined) return undefined;
  // The new tag vouches for what stays.
  const stays = (await passesTag(tx, 'sources', held)) ? runApprovalIn(held) : STRICT;
  const row = { ...DEFAULTS, ...runApprovalColumns(stays ?? undefined), ...source };
  const { name, ...columns } = { ...row, ...tagOf(tx.ring, 'sources', row) };
  return tx.db.updateTable('sources').set(columns).where('name', '=', name).returningAll().executeTakeFirst();
}

/**
 * Notes what a fetch of `source` brought. Throws not_found when it is gone, or is another one of that name by now: the
 * commit of one repository is not to be looked for in another.
 */
export async function moveSource(
  tx: Tx,
  source: Pick<SourceRow, 'name' | 'created_at'>,
  { commit, dirKept }: FetchedTree,
): Promise<SourceRow> {
  const held = await holdSource(tx, source.name);
  const row = await tx.db
    .updateTable('sources')
    .set(retagged(tx.ring, 'sources', held, { commit_id: commit, synced_at: tx.now, dir_kept: dirKept }))
    .where('name', '=', source.name)
    .where('created_at', '=', source.created_at)
    .returningAll()
    .executeTakeFirst();
  return found(row, 'source', source.name);
}

/** Notes what the directory is where `source` has nothing of this machine; false where its row changed. */
export async function keepSourceDirectory(
  tx: Tx,
  { name, location, dir_kept: before }: Pick<SourceRow, 'name' | 'location' | 'dir_kept'>,
  dirKept: string,
): Promise<boolean> {
  const [held] = await tx.dialect.holdRows(tx.db.selectFrom('sources').selectAll().where('name', '=', name)).execute();
  if (held?.kind !== 'dir' || held.location !== location || held.dir_kept !== before) return false;
  const set = retagged(tx.ring, 'sources', held, { dir_kept: dirKept });
  await tx.db.updateTable('sources').set(set).where('name', '=', name).execute();
  return true;
}

/** Which runs of it need an approval. Throws not_found. */
export async function setSourceApproval(tx: Tx, name: string, approval: RunApproval): Promise<SourceRow> {
  const held = await holdSource(tx, name);
  const columns = retagged(tx.ring, 'sources', held, runApprovalColumns(approval));
  await tx.db.updateTable('sources').set(columns).where('name', '=', name).execute();
  return { ...held, ...columns };
}

/** Throws not_found, and conflict while a workspace, a rule or a schedule uses it. */
export async function deleteSource(tx: Tx, name: string): Promise<void> {
  // Held first: who adds a workspace reads the row of its source under the same hold, so one of the two sees the other.
  await tx.dialect.holdRows(tx.db.selectFrom('sources').select('name').where('name', '=', name)).execute();
  const user = await tx.db
    .selectFrom('workspaces')
    .select('name')
    .where('source', '=', name)
    .orderBy('name')
    .limit(1)
    .executeTakeFirst();
  if (user !== undefined)
    throw new Failure('conflict', `The workspace ${user.name} uses source ${name}; remove it first.`);
  const asker = await findActionUser(tx.db, 'source', name);
  if (asker !== undefined) throw new Failure('conflict', `The ${asker} uses source ${name}; remove it first.`);
  const deleted = await tx.db.deleteFrom('sources').where('name', '=', name).returning('name').executeTakeFirst();
  found(deleted, 'source', name);
  await forgetManaged(tx, 'source', name);
}

/** The folders of a source that its workspaces use as roots, each once; empty is the source itself. */
export async function rootsOfSource(db: Db, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select('path')
    .distinct()
    .where('source', '=', name)
    .orderBy('path')
    .execute();
  return rows.map(({ path }) => path);
}

/** As `getSource`, in a write that is about to refer to it: it is not removed before that write has ended. */
export async function holdSource(tx: Tx, name: string): Promise<SourceRow> {
  const [row] = await tx.dialect.holdRows(tx.db.selectFrom('sources').selectAll().where('name', '=', name)).execute();
  return found(row, 'source', name);
}

export function sourceExists(name: string): Failure {
  return new Failure('duplicate', `name: a source with the name ${name} already exists.`);
}
