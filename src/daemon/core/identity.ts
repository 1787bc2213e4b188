import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ThisMachine } from '../../domain/new-program.ts';
import type { NotifyTarget } from '../../domain/notify/target.ts';
import { pathPart } from '../../domain/path-part.ts';
import { bootId } from '../../lib/boot-id.ts';
import { newId } from '../../lib/id.ts';
import { insertDaemon, markStopped } from '../../store/maintenance/daemons.ts';
import { holdLock, type InstanceLock, lockFile } from '../../store/engine/instance-lock.ts';
import { adoptNumbered, targetsJson } from '../../store/notify/targets.ts';
import type { Store } from '../../store/store.ts';
import { removeLock } from './lock-file.ts';
import { chooseNodeName } from './node-name.ts';

/** The machine and its boot: processes of another one cannot be searched from here. */
export interface Machine {
  readonly host: string;
  readonly bootId: string;
}

export function thisMachine(): ThisMachine {
  return { host: hostname(), bootId: bootId(), isRunning };
}

/** The name under which a daemon claims jobs, and the lock that shows others that it lives. */
export interface Identity {
  readonly id: string;
  /** The name by which people know it. */
  readonly node: string;
  /** Ends it in the records. Only after its jobs have ended. */
  retire(): Promise<void>;
}

interface IdentityOptions {
  readonly store: Store;
  readonly machine: Machine;
  readonly version: string;
  readonly instancesDir: string;
  /** `--node-name`; null for the default. */
  readonly nodeName: string | null;
  /** Where hooks and decision links are answered: open by now. */
  readonly ingressUrl: string;
  /** Of `--notify`. */
  readonly targets: readonly NotifyTarget[];
  readonly leaseMs: number;
  readonly now: number;
}

/**
 * Takes a new name. The lock is taken before the row is visible, so that no other daemon considers it dead while it
 * starts.
 */
export async function takeIdentity(options: IdentityOptions): Promise<Identity> {
  const { store, machine } = options;
  const id = newId('dmn', options.now);
  const lock: InstanceLock | null =
    store.dialect.liveness === 'lock'
      ? holdLock(lockFile(options.instancesDir, pathPart('id of this daemon', id)))
      : null;
  const recorded = store.write(async (tx) => {
    const node = await chooseNodeName(tx, { ...options, ...machine, wanted: options.nodeName, isRunning });
    const now = tx.dialect.liveness === 'lease' ? await tx.dialect.leaseClock(tx.db) : null;
    await insertDaemon(tx, {
      id,
      host: machine.host,
      boot_id: machine.bootId,
      pid: process.pid,
      version: options.version,
      started_at: tx.now,
      lease_until: now === null ? null : now + options.leaseMs,
      renewed_at: now,
      stopped_at: null,
      ingress_url: options.ingressUrl,
      notify_targets: targetsJson(options.targets),
      node,
    });
    await adoptNumbered(tx, id, options.targets);
    return node;
  });
  const node = await recorded.catch((error: unknown) => {
    lock?.release();
    throw error;
  });
  return {
    id,
    node,
    async retire() {
      await store.write((tx) => markStopped(tx, id));
      lock?.release();
      removeLock(options.instancesDir, id);
    },
  };
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
