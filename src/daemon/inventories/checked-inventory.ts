import { type Inventory, LOCALHOST, LOCALHOST_INVENTORY } from '../../domain/inventories/inventory.ts';
import { refuseChangedRow } from '../../jobs/pins/settings.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import { getInventoryRow, inventoryOf } from '../../store/inventories/inventories.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

/** What a run takes from an inventory. */
interface CheckedInventory {
  readonly inventory: Inventory;
  /** The secret with the private key for its hosts, or SSH_AGENT; null without any. */
  readonly sshKey: string | null;
}

/**
 * For the run of a job. Throws not_found, conflict for another inventory than the approved one, and forbidden for one
 * that somebody changed in the database.
 */
export async function checkedInventory(
  store: Store,
  { job, name }: { readonly job: Pick<JobRow, 'pinned'>; readonly name: string },
): Promise<CheckedInventory> {
  if (name === LOCALHOST) return { inventory: LOCALHOST_INVENTORY, sshKey: null };
  const row = await getInventoryRow(store.db, name);
  await checkTag(store, 'inventories', row);
  refuseChangedRow(job, 'inventory', row);
  return { inventory: inventoryOf(row), sshKey: row.ssh_key };
}
