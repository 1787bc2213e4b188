import type { DataDirPaths } from '../config/data-dir.ts';
import type { Settings } from '../config/settings/settings.ts';
import { thisMachine } from '../daemon/core/identity.ts';
import type { Clock } from '../lib/clock.ts';
import { hostPort } from '../lib/host-port.ts';
import { type Ingress, listIngresses } from '../store/maintenance/daemons.ts';
import { isDaemonLocked } from '../store/engine/instance-lock.ts';
import { processStart } from '../runners/process/process-table.ts';
import type { Store } from '../store/store.ts';

/**
 * Where hooks and decision links are answered, for a program that does not answer them itself: the ingress listener of
 * the newest daemon that lives on this machine (one of another machine is on a loopback address there), else what the
 * settings say a daemon would listen on.
 */
export async function ingressUrlOf({
  store,
  clock,
  settings,
  paths,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: Pick<Settings, 'ingressAddr'>;
  readonly paths: Pick<DataDirPaths, 'instances'>;
}): Promise<string> {
  const { host, bootId } = thisMachine();
  const ingresses = await listIngresses(store, { host, boot_id: bootId });
  const isLiving = (each: Ingress): boolean =>
    store.dialect.liveness === 'lease' ? isOfProcess(each, clock.now()) : isDaemonLocked(paths.instances, each.id);
  const living = ingresses.find(isLiving);
  const { host: own, port } = settings.ingressAddr;
  return living?.url ?? `http://${hostPort(own, port)}`;
}

/** By how much the clock may have been corrected since a daemon was started, in milliseconds. */
const CORRECTED_MS = 60_000;

/**
 * Whether the process that wrote the row lives: a lease can be made in the database, and another program may have the
 * address of a daemon that has stopped. A process that got its pid later was started later.
 */
function isOfProcess({ pid, started_at: startedAt }: Ingress, now: number): boolean {
  const start = processStart(pid, now);
  return start !== null && start <= startedAt + CORRECTED_MS;
}
