import { NAME } from '../../domain/name.ts';
import { Failure } from '../../domain/failure.ts';
import { isDaemonLocked } from '../../store/engine/instance-lock.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { executingOf } from '../../store/maintenance/restarts.ts';
import { holdNodeNames, unstoppedOf } from '../../store/maintenance/nodes.ts';
import type { DaemonRow } from '../../store/schema/schema.ts';

/** More daemons than one service has. */
const SUFFIX_MAX = 999;
const NAME_MAX = 63;

interface NodeNameOptions {
  /** `--node-name`; null for the default. */
  readonly wanted: string | null;
  readonly host: string;
  readonly bootId: string;
  readonly instancesDir: string;
  /** Whether a process of this machine and boot exists. */
  readonly isRunning: (pid: number) => boolean;
}

/**
 * The name of a daemon at its start: the given one, which no live daemon may have, else the host name, with `-2`, `-3`
 * and so on while a live daemon has it. Throws conflict.
 */
export async function chooseNodeName(tx: Tx, options: NodeNameOptions): Promise<string> {
  await holdNodeNames(tx);
  if (options.wanted !== null) {
    if (await isTaken(tx, options, options.wanted))
      throw new Failure('conflict', `node-name: a running daemon is called "${options.wanted}"; choose another name.`);
    return options.wanted;
  }
  const base = defaultName(options.host);
  for (let n = 1; n <= SUFFIX_MAX; n += 1) {
    const suffix = n === 1 ? '' : `-${n}`;
    const name = base.slice(0, NAME_MAX - suffix.length) + suffix;
    if (!(await isTaken(tx, options, name))) return name;
  }
  throw new Failure('conflict', `node-name: ${SUFFIX_MAX} running daemons are called "${base}"; give one a name.`);
}

/** The host name as a name: what a name cannot contain becomes a dash. */
function defaultName(host: string): string {
  const name = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, NAME_MAX);
  return NAME.test(name) ? name : 'node';
}

async function isTaken(tx: Tx, options: NodeNameOptions, name: string): Promise<boolean> {
  for (const row of await unstoppedOf(tx.db, name)) if (await isAlive(tx, options, row)) return true;
  return isRestarting(tx, options, name);
}

/** A daemon that restarts in place has stopped, and comes back with its name in the same process. */
async function isRestarting(tx: Tx, { host, bootId, isRunning }: NodeNameOptions, name: string): Promise<boolean> {
  const row = await executingOf(tx.db, name);
  if (row === undefined || row.host !== host || row.boot_id !== bootId) return false;
  return row.pid !== process.pid && isRunning(row.pid);
}

async function isAlive(tx: Tx, { host, bootId, instancesDir, isRunning }: NodeNameOptions, row: DaemonRow) {
  if (tx.dialect.liveness === 'lock') return isDaemonLocked(instancesDir, row.id);
  if (row.lease_until === null || row.lease_until <= (await tx.dialect.leaseClock(tx.db))) return false;
  // A daemon that was killed and started again need not wait until its lease has ended.
  if (row.host === host && row.boot_id === bootId) return row.pid !== process.pid && isRunning(row.pid);
  return true;
}
