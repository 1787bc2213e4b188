import * as z from 'zod';
import type { Entry } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import { writeYamlInventory } from '../../domain/inventories/formats/write-yaml.ts';
import type { Inventory } from '../../domain/inventories/inventory.ts';
import { readInventory } from '../../domain/inventories/read.ts';
import { getInventoryRow, inventoryOf, listInventories } from '../../store/inventories/inventories.ts';
import { jsonSchema } from '../core/json-schema.ts';
import { hideVariables, keepVariables } from './credentials.ts';
import { INVENTORY_RUNS, refuseUnset, shownRunApproval } from '../gate/run-approval.ts';
import { inventoryText, sshKeyField } from './inventories.ts';
import type { ConfigSection } from '../core/sections/section.ts';
import { readEntry, withoutEmpty } from '../core/sections/read-entry.ts';

const entry = z.strictObject({
  text: inventoryText.describe('An inventory file of Ansible, YAML or INI'),
  ssh_key: sshKeyField.optional(),
  ...INVENTORY_RUNS,
});

function inventoryIn(entry: Entry): Promise<Inventory> {
  return readInventory(String(entry['text']));
}

/** Compared by what the text says, not by how it is written. The accepted keys of hosts stay with the service. */
export const inventoriesSection: ConfigSection = {
  word: 'inventory',
  credentials: {
    hide: async (entry) => ({ ...entry, text: writeYamlInventory(hideVariables(await inventoryIn(entry))) }),
    async keep(entry, stored) {
      const before = stored['text'] === undefined ? null : await inventoryIn(stored);
      return { ...entry, text: writeYamlInventory(keepVariables(await inventoryIn(entry), before)) };
    },
  },
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const stored = new Map<string, Entry>();
    for (const row of await listInventories(db)) {
      const { name, ssh_key: key } = row;
      const text = writeYamlInventory(inventoryOf(await getInventoryRow(db, name)));
      stored.set(name, withoutEmpty({ text, ssh_key: key, ...shownRunApproval(row) }));
    }
    return stored;
  },
  async read(map, restore) {
    const { text, ...rest } = readEntry(entry, map, restore);
    return withoutEmpty({ text: writeYamlInventory(await readInventory(text)), ...rest });
  },
  add: (name, to) => [['inventory.add', { name, ...to }]],
  change(name, from, to) {
    if (to['ssh_key'] === undefined && from['ssh_key'] !== undefined)
      throw new Failure(
        'conflict',
        'ssh_key: an inventory with a key keeps one; name another, or remove the inventory.',
      );
    refuseUnset(from, to);
    return [['inventory.add', { name, ...to, replace: true }]];
  },
  remove: (name) => [['inventory.remove', { name }]],
};
