import type { HostKey } from '../../domain/inventories/host-key.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, HostKeyRow } from '../schema/schema.ts';

/** The accepted keys of the hosts of an inventory, by host and type. */
export function listHostKeys(db: Db, inventory: string): Promise<HostKeyRow[]> {
  return db
    .selectFrom('host_keys')
    .selectAll()
    .where('inventory', '=', inventory)
    .orderBy('host')
    .orderBy('type')
    .execute();
}

/** The same, by host. */
export async function hostKeysOf(db: Db, inventory: string): Promise<ReadonlyMap<string, HostKeyRow[]>> {
  return Map.groupBy(await listHostKeys(db, inventory), ({ host }) => host);
}

/** From now on the host is known by these keys, and by no others. */
export async function setHostKeys(
  tx: Tx,
  { inventory, host }: Pick<HostKeyRow, 'inventory' | 'host'>,
  keys: readonly HostKey[],
  addedBy: string,
): Promise<void> {
  await deleteHostKeys(tx, inventory, host);
  const rows = keys.map(({ type, key }) => ({ inventory, host, type, key, added_at: tx.now, added_by: addedBy }));
  if (rows.length > 0) await tx.db.insertInto('host_keys').values(rows).execute();
}

/** How many there were. */
export async function deleteHostKeys(tx: Tx, inventory: string, host: string): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('host_keys')
    .where('inventory', '=', inventory)
    .where('host', '=', host)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
