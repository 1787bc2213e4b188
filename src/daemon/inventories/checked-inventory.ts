import { type Inventory, LOCALHOST, LOCALHOST_INVENTORY } from '../../domain/inventories/inventory.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import { getInventoryRow, inventoryOf } from '../../store/inventories/inventories.ts';
import type { Store } from '../../store/store.ts';

/** What a run takes from an inventory. */
interface CheckedInventory {
  readonly inventory: Inventory;
  /** The secret with the private key for its hosts, or SSH_AGENT; null without any. */
  readonly sshKey: string | null;
}

/** Throws not_found, and forbidden for an inventory that somebody changed in the database. */
export async function checkedInventory(store: Store, name: string): Promise<CheckedInventory> {
  if (name === LOCALHOST) return { inventory: LOCALHOST_INVENTORY, sshKey: null };
  const row = await getInventoryRow(store.db, name);
  await checkTag(store, 'inventories', row);
  return { inventory: inventoryOf(row), sshKey: row.ssh_key };
}
