import { createHash } from 'node:crypto';
import type { RunApproval } from '../../domain/gate/run-approval.ts';
import { Failure } from '../../domain/failure.ts';
import { type Inventory, LOCALHOST, LOCALHOST_INVENTORY } from '../../domain/inventories/inventory.ts';
import { readModel, writeModel } from '../../domain/inventories/model-json.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { findActionUser } from '../engine/action-users.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import { NO_RUN_APPROVAL, runApprovalColumns } from '../gate/gate.ts';
import type { Db, InventoryRow } from '../schema/schema.ts';
import { deleteHostKeys } from './host-keys.ts';

/** An inventory without its hosts. */
export type InventoryFacts = Omit<InventoryRow, 'model' | 'order_tag' | 'order_key_id'>;

const FACTS = [
  'name',
  'digest',
  'hosts',
  'groups',
  'ssh_key',
  'approve_runs',
  'except_check',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof InventoryFacts)[];

/** Read inventories, by digest: a rule that fires often parses the hosts of its inventory once. */
const READ = new Map<string, Inventory>();
/** One with 10,000 hosts takes about 10 MB. */
const READ_MAX = 4;

/** With its hosts: megabytes for thousands. */
export const findInventoryRow = rowBy('inventories', 'name');

/** Without the model, which has megabytes for thousands of hosts. */
const findKeys = prepared<{ name: string }, Pick<InventoryRow, 'digest' | 'ssh_key'>>((db, value) =>
  db.selectFrom('inventories').select(['digest', 'ssh_key']).where('name', '=', value('name')),
);

/** By name, without `localhost`. */
export function listInventories(db: Db): Promise<InventoryFacts[]> {
  return db.selectFrom('inventories').select(FACTS).orderBy('name').execute();
}

/** The row of a stored inventory. Throws not_found, also for `localhost`. */
export async function getInventoryRow(db: Db, name: string): Promise<InventoryRow> {
  if (name === LOCALHOST)
    throw new Failure('not_found', `The inventory ${LOCALHOST} is the machine of the daemon; it is not stored.`);
  return found(await findInventoryRow(db, name), 'inventory', name);
}

/** The hosts of a stored inventory, or of `localhost`, which always exists. Throws not_found. */
export async function getInventory(db: Db, name: string): Promise<Inventory> {
  if (name === LOCALHOST) return LOCALHOST_INVENTORY;
  const { digest } = found((await findKeys(db, { name })).rows[0], 'inventory', name);
  const read = READ.get(digest);
  if (read !== undefined) return read;
  return inventoryOf(await getInventoryRow(db, name));
}

/** The secret with the private key for its hosts, or SSH_AGENT; null without any. Throws not_found. */
export async function getSshKey(db: Db, name: string): Promise<string | null> {
  return name === LOCALHOST ? null : found((await findKeys(db, { name })).rows[0], 'inventory', name).ssh_key;
}

/** Throws conflict where the hosts are not those of the digest. */
export function inventoryOf({ name, digest, model }: Pick<InventoryRow, 'name' | 'digest' | 'model'>): Inventory {
  const inventory = READ.get(digest) ?? readModel(model);
  // Kept by its digest, one that somebody wrote under the digest of another would stand for that.
  if (!READ.has(digest) && digestOf(model) !== digest)
    throw new Failure('conflict', `Integrity: the hosts of inventory ${name} were changed after they were written.`);
  READ.delete(digest);
  READ.set(digest, inventory);
  const [oldest] = READ.keys();
  if (READ.size > READ_MAX && oldest !== undefined) READ.delete(oldest);
  return inventory;
}

interface NewInventory {
  readonly name: string;
  readonly inventory: Inventory;
  /** Undefined: none, and where one is replaced, that of before. */
  readonly sshKey: string | undefined;
  /** The same. */
  readonly approval?: RunApproval | undefined;
}

/** Throws duplicate where the name is taken. */
export async function insertInventory(tx: Tx, added: NewInventory): Promise<InventoryRow> {
  const columns = {
    ...columnsOf(tx, added),
    name: added.name,
    ssh_key: added.sshKey ?? null,
    ...NO_RUN_APPROVAL,
    ...runApprovalColumns(added.approval),
    created_at: tx.now,
  };
  const row = { ...columns, ...tagOf(tx.ring, 'inventories', columns) };
  if (!(await insertRow(tx.db, 'inventories', row, 'skip')))
    throw new Failure(
      'duplicate',
      `name: an inventory with the name ${added.name} already exists; use --replace to replace it.`,
    );
  return row;
}

/** Replaces its hosts; the keys of hosts that are gone go too. Undefined if there is no inventory of the name. */
export async function replaceInventory(tx: Tx, added: NewInventory): Promise<InventoryRow | undefined> {
  const row = await change(tx, added.name, {
    ...columnsOf(tx, added),
    ...(added.sshKey === undefined ? {} : { ssh_key: added.sshKey }),
    ...runApprovalColumns(added.approval),
  });
  if (row === undefined) return undefined;
  const known = await tx.db
    .selectFrom('host_keys')
    .select('host')
    .distinct()
    .where('inventory', '=', added.name)
    .execute();
  for (const { host } of known) if (!added.inventory.hosts.has(host)) await deleteHostKeys(tx, added.name, host);
  return row;
}

function digestOf(model: string): string {
  return createHash('sha256').update(model).digest('hex');
}

function columnsOf(tx: Tx, { inventory }: NewInventory) {
  const model = writeModel(inventory);
  return {
    model,
    digest: digestOf(model),
    hosts: inventory.hosts.size,
    // Without `all` and `ungrouped`.
    groups: inventory.groups.size - 2,
    updated_at: tx.now,
  };
}

/** Sets what is defined. Throws not_found. */
export async function setInventory(
  tx: Tx,
  { name, sshKey, approval }: Omit<NewInventory, 'inventory'>,
): Promise<InventoryRow> {
  const columns = { ...(sshKey === undefined ? {} : { ssh_key: sshKey }), ...runApprovalColumns(approval) };
  return found(await change(tx, name, { ...columns, updated_at: tx.now }), 'inventory', name);
}

/** Undefined if there is no inventory of the name. */
async function change(tx: Tx, name: string, columns: Partial<InventoryRow>): Promise<InventoryRow | undefined> {
  const held = tx.db.selectFrom('inventories').selectAll().where('name', '=', name);
  const [before] = await tx.dialect.holdRows(held).execute();
  if (before === undefined) return undefined;
  const set = tx.db.updateTable('inventories').set(retagged(tx.ring, 'inventories', before, columns));
  return set.where('name', '=', name).returningAll().executeTakeFirst();
}

/** With its host keys. Throws not_found, and conflict while a rule or a schedule names it. */
export async function deleteInventory(tx: Tx, name: string): Promise<void> {
  // Held first: who adds a rule holds the row of its inventory too, so one of the two sees the other.
  await holdInventory(tx, name);
  const user = await findActionUser(tx.db, 'inventory', name);
  if (user !== undefined) throw new Failure('conflict', `The ${user} uses inventory ${name}; remove it first.`);
  await tx.db.deleteFrom('host_keys').where('inventory', '=', name).execute();
  await tx.db.deleteFrom('inventories').where('name', '=', name).execute();
  await forgetManaged(tx, 'inventory', name);
}

/** In a write that is about to refer to it: it is not removed before that write has ended. Throws not_found. */
export async function holdInventory(tx: Tx, name: string): Promise<void> {
  if (name === LOCALHOST) return;
  const [row] = await tx.dialect
    .holdRows(tx.db.selectFrom('inventories').select('name').where('name', '=', name))
    .execute();
  found(row, 'inventory', name);
}
