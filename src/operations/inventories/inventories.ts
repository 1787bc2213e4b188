import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { connections, groupsOfHosts } from '../../domain/inventories/connection.ts';
import { fingerprint } from '../../domain/inventories/host-key.ts';
import { INVENTORY_LIMITS, LOCALHOST, SSH_AGENT } from '../../domain/inventories/inventory.ts';
import { INVENTORY_FORMATS, readInventory } from '../../domain/inventories/read.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { hostKeysOf } from '../../store/inventories/host-keys.ts';
import {
  deleteInventory,
  getInventoryRow,
  insertInventory,
  type InventoryFacts,
  inventoryOf,
  listInventories,
  replaceInventory,
  setSshKey,
} from '../../store/inventories/inventories.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { requireSecrets } from '../../store/secrets/secrets.ts';
import type { Db, InventoryRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import { isSecretRef } from '../secrets/run-secrets.ts';
import { HOST_KEY_OPERATIONS } from './host-keys.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly(
  'Inventories are managed on the machine only, because they decide which hosts a job reaches.',
);

function inventoryView(row: InventoryFacts): ViewItem<'inventory.list'> {
  return { ...row, created_at: rfc3339(row.created_at), updated_at: rfc3339(row.updated_at) };
}

async function getView(db: Db, row: InventoryRow): Promise<ViewData<'inventory.get'>> {
  const inventory = inventoryOf(row);
  const groups = groupsOfHosts(inventory);
  const keys = await hostKeysOf(db, row.name);
  const members = connections(inventory, [...inventory.hosts.keys()]).map(({ kind, ...connection }) => ({
    ...connection,
    connection: kind,
    groups: groups.get(connection.host) ?? [],
    host_keys: (keys.get(connection.host) ?? []).map((key) => ({ type: key.type, fingerprint: fingerprint(key) })),
  }));
  return { ...inventoryView(row), members };
}

const list = readOperation({
  id: 'inventory.list',
  summary: 'List inventories; localhost always exists besides them',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'inventory list', examples: ['svc inventory list'] },
  answers: ['inventory.list'],
  run: async ({ store }) => reply('inventory.list', (await listInventories(store.db)).map(inventoryView)),
});

export const sshKeyField = field.as(
  'PROJECT/SECRET',
  z
    .string()
    .refine((text) => isSecretRef(text) || text === SSH_AGENT, { error: `expected PROJECT/SECRET, or ${SSH_AGENT}` })
    .describe('Secret with the private key for its hosts; agent for the SSH agent of the daemon'),
);

/** Throws not_found. */
async function requireKey({ db }: Tx, key: string): Promise<void> {
  if (key !== SSH_AGENT) await requireSecrets(db, { ssh_key: key });
}

const byName = z.strictObject({ name: field.name });

const get = readOperation({
  id: 'inventory.get',
  summary: 'Show one inventory: its hosts, their groups and their accepted keys',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'inventory get', positionals: ['name'], examples: ['svc inventory get prod'] },
  input: byName,
  answers: ['inventory.get'],
  failures: ['not_found'],
  run: async ({ store }, { name }) =>
    reply('inventory.get', await getView(store.db, await getInventoryRow(store.db, name))),
});

export const inventoryText = z
  .string({ error: 'expected the text of an inventory file' })
  .refine((text) => Buffer.byteLength(text) <= INVENTORY_LIMITS.fileBytes, {
    error: `expected at most ${INVENTORY_LIMITS.fileBytes} bytes`,
  });

const add = writeOperation({
  id: 'inventory.add',
  causes: { of: 'inventory' },
  summary: 'Add an inventory from a YAML or INI file, which is never executed',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'inventory add',
    stdin: { field: 'text', what: 'the inventory', cure: '', question: null, bytesMax: INVENTORY_LIMITS.fileBytes },
    positionals: ['name'],
    // The command line reads the file and sends its text.
    omit: ['text'],
    examples: [
      'svc inventory add prod --file hosts.yaml --ssh-key ops/deploy-key',
      'svc inventory add prod --file hosts.ini --replace',
    ],
  },
  input: z.strictObject({
    name: field.name,
    text: inventoryText,
    format: field.oneOf(INVENTORY_FORMATS).optional().describe('Format of the file, if its first line does not tell'),
    ssh_key: sshKeyField.optional(),
    replace: z
      .boolean()
      .default(false)
      .describe('Replace the inventory of this name, if any; keys of hosts that remain are kept'),
  }),
  answers: ['inventory.get'],
  failures: ['duplicate', 'not_found'],
  prepare: (_context, { name, text, format }) => {
    if (name === LOCALHOST)
      throw new Failure('duplicate', `name: the inventory ${LOCALHOST} always exists; choose another name.`);
    return readInventory(text, format);
  },
  async run({ tx }, { name, ssh_key: sshKey, replace }, inventory) {
    if (sshKey !== undefined) await requireKey(tx, sshKey);
    const replaced = replace ? await replaceInventory(tx, { name, inventory, sshKey }) : undefined;
    const row = replaced ?? (await insertInventory(tx, { name, inventory, sshKey }));
    const { hosts, groups } = row;
    return written(reply('inventory.get', await getView(tx.db, row)), name, { hosts, groups, replace });
  },
});

const update = writeOperation({
  id: 'inventory.update',
  causes: { of: 'inventory' },
  summary: 'Set the SSH key for the hosts of an inventory',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'inventory update',
    positionals: ['name'],
    examples: ['svc inventory update prod --ssh-key ops/deploy-key'],
  },
  input: z.strictObject({ name: field.name, ssh_key: sshKeyField }),
  answers: ['inventory.get'],
  failures: ['not_found'],
  async run({ tx }, { name, ssh_key: sshKey }) {
    await requireKey(tx, sshKey);
    const row = await setSshKey(tx, name, sshKey);
    return written(reply('inventory.get', await getView(tx.db, row)), name);
  },
});

const remove = writeOperation({
  id: 'inventory.remove',
  causes: { of: 'inventory' },
  summary: 'Remove an inventory and the accepted keys of its hosts',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'inventory remove', positionals: ['name'], examples: ['svc inventory remove prod'] },
  input: byName,
  failures: ['not_found', 'conflict'],
  async run({ tx }, { name }) {
    if (name === LOCALHOST) throw new Failure('conflict', `name: the inventory ${LOCALHOST} always exists.`);
    await deleteInventory(tx, name);
    return written(replyNone, name);
  },
});

export const INVENTORY_OPERATIONS = [list, get, add, update, remove, ...HOST_KEY_OPERATIONS];
