import { Failure } from '../../domain/failure.ts';
import { forgetManaged } from '../configuration/managed.ts';
import type { Tx } from '../engine/tx.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import { tagOf } from '../engine/tags/tags.ts';
import type { Db, WorkflowRow } from '../schema/schema.ts';

/** A workflow before it is tagged. */
export type NewWorkflow = Pick<WorkflowRow, 'name' | 'definition' | 'owners' | 'added_by'>;

/** By name. */
export function listWorkflows(db: Db): Promise<WorkflowRow[]> {
  return db.selectFrom('workflows').selectAll().orderBy('name').execute();
}

const findWorkflow = rowBy('workflows', 'name');

/** Throws not_found for an unknown name. */
export async function getWorkflow(db: Db, name: string): Promise<WorkflowRow> {
  return found(await findWorkflow(db, name), 'workflow', name);
}

/** Throws duplicate where the name is taken. */
export async function insertWorkflow(tx: Tx, added: NewWorkflow): Promise<WorkflowRow> {
  const row = { ...added, created_at: tx.now, updated_at: tx.now, ...tagOf(tx.ring, 'workflows', added) };
  if (await insertRow(tx.db, 'workflows', row, 'skip')) return row;
  throw new Failure(
    'duplicate',
    `name: a workflow with the name ${added.name} already exists; use --replace to replace it.`,
  );
}

/** Replaces the workflow of the same name and its owners; undefined if no workflow has the name. */
export function replaceWorkflow(tx: Tx, { name, ...columns }: NewWorkflow): Promise<WorkflowRow | undefined> {
  return tx.db
    .updateTable('workflows')
    .set({ ...columns, ...tagOf(tx.ring, 'workflows', { name, ...columns }), updated_at: tx.now })
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
}

/** The row that is gone; its runs remain. Throws not_found. */
export async function deleteWorkflow(tx: Tx, name: string): Promise<WorkflowRow> {
  const deleted = await tx.db.deleteFrom('workflows').where('name', '=', name).returningAll().executeTakeFirst();
  await forgetManaged(tx, 'workflow', name);
  return found(deleted, 'workflow', name);
}
