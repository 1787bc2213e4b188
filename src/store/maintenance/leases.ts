import { prepared } from '../engine/prepared.ts';
import { hasChanged } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { DaemonRow } from '../schema/schema.ts';
import type { Store } from '../store.ts';

/** Leases of daemons on a database that several machines share. Its clock decides when one ends. */

/** Renews a lease by the database's clock. False when it had run out or was taken: then others may have acted. */
export async function renewLease(
  { db, dialect }: Pick<Tx, 'db' | 'dialect'>,
  id: string,
  leaseMs: number,
): Promise<boolean> {
  const now = await dialect.leaseClock(db);
  const update = db
    .updateTable('daemons')
    .set({ lease_until: now + leaseMs, renewed_at: now })
    .where('id', '=', id);
  return hasChanged(update.where('lease_until', '>', now).where('stopped_at', 'is', null));
}

const lifeOf = prepared<{ id: string }, Pick<DaemonRow, 'lease_until' | 'stopped_at'>>((db, value) =>
  db.selectFrom('daemons').select(['lease_until', 'stopped_at']).where('id', '=', value('id')),
);

/** Whether a daemon may claim: one that was found dead, or whose lease ran out, may not. */
export async function mayClaim(tx: Tx, id: string): Promise<boolean> {
  const [row] = (await lifeOf(tx.db, { id })).rows;
  if (row === undefined || row.stopped_at !== null) return false;
  return row.lease_until === null || row.lease_until > (await tx.dialect.leaseClock(tx.db));
}

/** Ends each daemon whose lease has run out, at its end; from then on it can't renew. True where there was one. */
export async function expireLeases(tx: Tx, self: string): Promise<boolean> {
  const now = await tx.dialect.leaseClock(tx.db);
  return hasChanged(
    tx.db
      .updateTable('daemons')
      .set((eb) => ({ stopped_at: eb.ref('lease_until') }))
      .where('id', '!=', self)
      .where('stopped_at', 'is', null)
      .where('lease_until', '<=', now),
  );
}

/** Whether a daemon has a valid lease. Only for stores whose daemons have leases. */
export async function isServed({ db, dialect }: Pick<Store, 'db' | 'dialect'>): Promise<boolean> {
  const now = await dialect.leaseClock(db);
  const alive = db.selectFrom('daemons').select('id').where('stopped_at', 'is', null).where('lease_until', '>', now);
  return (await alive.limit(1).execute()).length > 0;
}
