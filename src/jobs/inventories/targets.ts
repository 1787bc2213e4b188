import { Failure } from '../../domain/failure.ts';
import { connections } from '../../domain/inventories/connection.ts';
import { type Inventory, LOCALHOST } from '../../domain/inventories/inventory.ts';
import { limitHosts, requireHost } from '../../domain/inventories/limit.ts';
import { getInventory, getSshKey, holdInventory } from '../../store/inventories/inventories.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Db } from '../../store/schema/schema.ts';

/** What a job of commands or playbooks works on. */
interface Targets {
  readonly inventory: string;
  /** Null: all hosts. */
  readonly limit: string | null;
  /** The limit is a value of an event: it must be one host, never a group that happens to have its name. */
  readonly isOfEvent?: boolean | undefined;
}

/**
 * The hosts, in the order of the inventory. Throws not_found for an unknown inventory, and invalid_argument for a limit
 * that selects no host or names something else.
 */
export async function targetHosts(db: Db, targets: Targets): Promise<readonly string[]> {
  return hostsIn(await getInventory(db, targets.inventory), targets);
}

/** The same of an inventory that was read before. */
export function hostsIn(inventory: Inventory, { inventory: name, limit, isOfEvent }: Targets): readonly string[] {
  if (limit !== null && isOfEvent === true) requireHost(name, inventory, limit);
  return limitHosts(name, inventory, limit);
}

/** Like `targetHosts`, before a job is queued. Also throws conflict where a host needs a key and none is named. */
export async function requireReachable(db: Db, targets: Targets): Promise<void> {
  const { inventory: name } = targets;
  const inventory = await getInventory(db, name);
  if (connections(inventory, hostsIn(inventory, targets)).every(({ kind }) => kind === 'local')) return;
  if ((await getSshKey(db, name)) === null) throw noSshKey(name);
}

/** The hosts of an order as they are now; none where the inventory is gone, or the limit selects nothing any more. */
export async function hostsNow(db: Db, targets: Targets): Promise<readonly string[]> {
  try {
    return await targetHosts(db, targets);
  } catch (error) {
    if (error instanceof Failure && ['not_found', 'invalid_argument'].includes(error.code)) return [];
    throw error;
  }
}

/** Names in a row of the ledger; the rest is a count. */
const LEDGER_HOSTS_MAX = 50;

/** For the ledger: which hosts an order is for, as they are now; nothing of this machine. */
export async function targetsDetail(db: Db, targets: Targets): Promise<Readonly<Record<string, unknown>>> {
  const { inventory, limit } = targets;
  if (inventory === LOCALHOST) return {};
  const hosts = await targetHosts(db, targets);
  return { ...(limit === null ? {} : { limit }), hosts: hosts.slice(0, LEDGER_HOSTS_MAX), host_count: hosts.length };
}

export function noSshKey(inventory: string): Failure {
  return new Failure(
    'conflict',
    `The inventory ${inventory} names no SSH key: svc inventory update ${inventory} --ssh-key PROJECT/SECRET`,
  );
}

/**
 * Checks the targets of a rule or a schedule when it is added; a value that is not `known` yet is left to the job. The
 * inventory cannot be removed until the write has ended. Throws like `targetHosts`.
 */
export async function requireTargetHosts(
  tx: Tx,
  { inventory, limit }: Targets,
  known: (text: string) => boolean,
): Promise<void> {
  if (!known(inventory)) return;
  await holdInventory(tx, inventory);
  await targetHosts(tx.db, { inventory, limit: limit !== null && known(limit) ? limit : null });
}
