import type { DataDirPaths } from '../config/data-dir.ts';
import type { Settings } from '../config/settings/settings.ts';
import { thisMachine } from '../daemon/core/identity.ts';
import { hostPort } from '../lib/host-port.ts';
import { listIngresses } from '../store/maintenance/daemons.ts';
import { isDaemonLocked } from '../store/engine/instance-lock.ts';
import type { Store } from '../store/store.ts';

/**
 * Where hooks and decision links are answered, for a program that does not answer them itself: the ingress listener of
 * the newest daemon that lives on this machine (one of another machine is on a loopback address there), else what the
 * settings say a daemon would listen on.
 */
export async function ingressUrlOf({
  store,
  settings,
  paths,
}: {
  readonly store: Store;
  readonly settings: Pick<Settings, 'ingressAddr'>;
  readonly paths: Pick<DataDirPaths, 'instances'>;
}): Promise<string> {
  const { host, bootId } = thisMachine();
  const ingresses = await listIngresses(store, { host, boot_id: bootId });
  const living = ingresses.find(({ id }) => store.dialect.liveness === 'lease' || isDaemonLocked(paths.instances, id));
  const { host: own, port } = settings.ingressAddr;
  return living?.url ?? `http://${hostPort(own, port)}`;
}
