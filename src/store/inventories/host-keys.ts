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
