import { Failure } from '../../domain/failure.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { countedUp } from '../engine/counts.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import { deleteTargets } from './targets.ts';
import type { CheckRow, Db } from '../schema/schema.ts';

const findRow = rowBy('checks', 'name');

/** By name, from the one behind `after` on. */
export function listChecks(db: Db, limit: number, after = ''): Promise<CheckRow[]> {
  return db.selectFrom('checks').selectAll().where('name', '>', after).orderBy('name').limit(limit).execute();
}

/** Throws not_found. */
export async function getCheck(db: Db, name: string): Promise<CheckRow> {
  return found(await findRow(db, name), 'check', name);
}

/** Throws not_found. The row is locked until the write has ended. */
export async function holdCheck(tx: Tx, name: string): Promise<CheckRow> {
  const [row] = await tx.dialect.holdRows(tx.db.selectFrom('checks').selectAll().where('name', '=', name)).execute();
  return found(row, 'check', name);
}

/** Throws duplicate where the name is taken. */
export async function insertCheck(
  tx: Tx,
  definition: Pick<CheckRow, 'name' | 'kind' | 'interval_ms' | 'options'>,
): Promise<CheckRow> {
  const row = { ...definition, enabled: 1 as const, created_at: tx.now, updated_at: tx.now, revision: 1 };
  if (!(await insertRow(tx.db, 'checks', row, 'skip')))
    throw new Failure('duplicate', `name: a check with the name ${row.name} already exists.`);
  tx.announce();
  return row;
}

/** Notes a change of the check or of its targets. Throws not_found. */
export async function changeCheck(
  tx: Tx,
  name: string,
  change: Partial<Pick<CheckRow, 'interval_ms' | 'options' | 'enabled'>> = {},
): Promise<CheckRow> {
  const update = tx.db
    .updateTable('checks')
    .set({ ...change, updated_at: tx.now, revision: countedUp('revision') })
    .where('name', '=', name);
  tx.announce();
  return found(await update.returningAll().executeTakeFirst(), 'check', name);
}

/** With its targets and their state. Throws not_found. */
export async function deleteCheck(tx: Tx, name: string): Promise<CheckRow> {
  const deleted = await tx.db.deleteFrom('checks').where('name', '=', name).returningAll().executeTakeFirst();
  const row = found(deleted, 'check', name);
  await deleteTargets(tx, name);
  await forgetManaged(tx, 'check', name);
  tx.announce();
  return row;
}
