import type { Tx } from '../engine/tx.ts';
import type { ConfigObjectRow, Db, LedgerRow } from '../schema/schema.ts';

/** Rows of one statement: it has five values for each, and SQLite takes 32,766. */
const STATEMENT_ROWS = 1_000;

/** Every object that a configuration file manages. */
export function listManaged(db: Db): Promise<ConfigObjectRow[]> {
  return db.selectFrom('config_objects').selectAll().orderBy('kind').orderBy('name').execute();
}

/** Notes which set manages these objects, and what its file says of them. */
export async function setManaged(tx: Tx, rows: readonly ConfigObjectRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += STATEMENT_ROWS)
    await tx.db
      .insertInto('config_objects')
      .values(rows.slice(at, at + STATEMENT_ROWS))
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'name'])
          .doUpdateSet((eb) => ({
            config_set: eb.ref('excluded.config_set'),
            digest: eb.ref('excluded.digest'),
            applied_at: eb.ref('excluded.applied_at'),
          })),
      )
      .execute();
}

/** Of an object that is gone: another one that gets its name belongs to no set. */
export async function forgetManaged(tx: Tx, kind: string, name: string): Promise<void> {
  await tx.db.deleteFrom('config_objects').where('kind', '=', kind).where('name', '=', name).execute();
}

/** More rows of the ledger than this are not searched for who changed an object. */
const CHANGES_MAX = 20_000;

export type LedgerChange = Pick<LedgerRow, 'at' | 'principal' | 'operation' | 'target'>;

/** What these operations did after `since` (milliseconds), newest first. */
export function changesSince(db: Db, since: number, operations: readonly string[]): Promise<LedgerChange[]> {
  return db
    .selectFrom('ledger')
    .select(['at', 'principal', 'operation', 'target'])
    .where('at', '>', since)
    .where('operation', 'in', operations)
    .orderBy('at', 'desc')
    .limit(CHANGES_MAX)
    .execute();
}
