import type { Tx } from './gate.ts';
import type { DaemonRow, Db } from './schema.ts';

export async function insertDaemon(tx: Tx, row: DaemonRow): Promise<void> {
  await tx.db.insertInto('daemons').values(row).execute();
}

/** Renews a lease by the database's clock. False when the lease had run out already: then others may have acted. */
export async function renewLease(tx: Tx, id: string, leaseMs: number): Promise<boolean> {
  const now = await tx.dialect.leaseClock(tx.db);
  const result = await tx.db
    .updateTable('daemons')
    .set({ lease_until: now + leaseMs })
    .where('id', '=', id)
    .where('lease_until', '>', now)
    .where('stopped_at', 'is', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

export async function markStopped(tx: Tx, id: string): Promise<void> {
  await tx.db.updateTable('daemons').set({ stopped_at: tx.now }).where('id', '=', id).where('stopped_at', 'is', null).execute();
}

/** Daemons that did not stop in order, other than `self`: alive or dead, the caller finds out. */
export function listOthers(db: Db, self: string): Promise<DaemonRow[]> {
  return db.selectFrom('daemons').selectAll().where('id', '!=', self).where('stopped_at', 'is', null).orderBy('id').execute();
}

export function findDaemon(db: Db, id: string): Promise<DaemonRow | undefined> {
  return db.selectFrom('daemons').selectAll().where('id', '=', id).executeTakeFirst();
}
