import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { connections, groupsOfHosts } from '../../domain/inventories/connection.ts';
import { fingerprint } from '../../domain/inventories/host-key.ts';
import {
  type Inventory,
  INVENTORY_LIMITS,
  LOCALHOST,
  LOCALHOST_INVENTORY,
  SSH_AGENT,
} from '../../domain/inventories/inventory.ts';
import { INVENTORY_FORMATS, readInventory } from '../../domain/inventories/read.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { findGate, setGate } from '../../store/gate/gate.ts';
import { hostKeysOf } from '../../store/inventories/host-keys.ts';
import {
  deleteInventory,
  getInventoryRow,
  insertInventory,
  type InventoryFacts,
  inventoryOf,
  listInventories,
  replaceInventory,
  setInventory,
} from '../../store/inventories/inventories.ts';
import type { TagReader } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { requireSecrets } from '../../store/secrets/secrets.ts';
import type { Db, InventoryRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import { INVENTORY_RUNS, runApprovalOf, shown, shownRunApproval } from '../gate/run-approval.ts';
import { isSecretRef } from '../secrets/run-secrets.ts';
import { HOST_KEY_OPERATIONS } from './host-keys.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly(
  'Inventories are managed on the machine only, because they decide which hosts a job reaches.',
);

function inventoryView(row: InventoryFacts): ViewItem<'inventory.list'> {
  const { name, hosts, groups, ssh_key, created_at: createdAt, updated_at: updatedAt } = row;
  const times = { created_at: rfc3339(createdAt), updated_at: rfc3339(updatedAt) };
  return { name, hosts, groups, ssh_key, ...times, ...shownRunApproval(row) };
}

async function getView(db: Db, row: InventoryRow): Promise<ViewData<'inventory.get'>> {
  return viewOf(db, inventoryView(row), inventoryOf(row));
}

/** This machine has no row: what is set of it is in the gate. Throws not_found where nothing is. */
async function localhostView(tx: TagReader): Promise<ViewData<'inventory.get'>> {
  const { set, localhost } = await findGate(tx);
  if (set === null || localhost === null)
    throw new Failure('not_found', `The inventory ${LOCALHOST} is the machine of the daemon; it is not stored.`);
  const at = rfc3339(set.at);
  const facts = { name: LOCALHOST, hosts: 1, groups: 0, ssh_key: null, created_at: at, updated_at: at };
  return viewOf(tx.db, { ...facts, ...shown(localhost) }, LOCALHOST_INVENTORY);
}

async function viewOf(
  db: Db,
  facts: ViewItem<'inventory.list'>,
  inventory: Inventory,
): Promise<ViewData<'inventory.get'>> {
  const groups = groupsOfHosts(inventory);
  const keys = await hostKeysOf(db, facts.name);
  const members = connections(inventory, [...inventory.hosts.keys()]).map(({ kind, ...connection }) => ({
    ...connection,
    connection: kind,
    groups: groups.get(connection.host) ?? [],
    host_keys: (keys.get(connection.host) ?? []).map((key) => ({ type: key.type, fingerprint: fingerprint(key) })),
  }));
  return { ...facts, members };
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
    reply(
      'inventory.get',
      name === LOCALHOST ? await localhostView(store) : await getView(store.db, await getInventoryRow(store.db, name)),
    ),
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
    ...INVENTORY_RUNS,
  }),
  answers: ['inventory.get'],
  failures: ['duplicate', 'not_found'],
  prepare: (_context, { name, text, format, ...given }) => {
    runApprovalOf(given);
    if (name === LOCALHOST)
      throw new Failure('duplicate', `name: the inventory ${LOCALHOST} always exists; choose another name.`);
    return readInventory(text, format);
  },
  async run({ tx }, { name, ssh_key: sshKey, replace, ...given }, inventory) {
    if (sshKey !== undefined) await requireKey(tx, sshKey);
    const added = { name, inventory, sshKey, approval: runApprovalOf(given) };
    const replaced = replace ? await replaceInventory(tx, added) : undefined;
    const row = replaced ?? (await insertInventory(tx, added));
    const { hosts, groups } = row;
    const detail = { hosts, groups, replace, ...shownRunApproval(row) };
    return written(reply('inventory.get', await getView(tx.db, row)), name, detail);
  },
});

const update = writeOperation({
  id: 'inventory.update',
  causes: { of: 'inventory' },
  summary: 'Set the SSH key of an inventory, and which runs on it need an approval',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'inventory update',
    positionals: ['name'],
    examples: [
      'svc inventory update prod --ssh-key ops/deploy-key',
      'svc inventory update localhost --approve-runs all --except-check',
    ],
  },
  input: z.strictObject({ name: field.name, ssh_key: sshKeyField.optional(), ...INVENTORY_RUNS }),
  answers: ['inventory.get'],
  failures: ['not_found'],
  async run({ tx, caller }, { name, ssh_key: sshKey, ...given }) {
    const approval = runApprovalOf(given);
    if (sshKey === undefined && approval === undefined)
      throw new Failure('invalid_argument', 'ssh_key, approve_runs: expected at least one of the two.');
    const detail = approval === undefined ? {} : shown(approval);
    if (name === LOCALHOST) {
      if (sshKey !== undefined)
        throw new Failure('invalid_argument', `ssh_key: not allowed with ${LOCALHOST}, which is not reached by SSH.`);
      await setGate(tx, { by: caller.owner, localhost: approval });
      return written(reply('inventory.get', await localhostView(tx)), name, detail);
    }
    if (sshKey !== undefined) await requireKey(tx, sshKey);
    const row = await setInventory(tx, { name, sshKey, approval });
    return written(reply('inventory.get', await getView(tx.db, row)), name, detail);
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
