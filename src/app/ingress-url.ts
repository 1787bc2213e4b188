import { thisMachine } from '../daemon/core/identity.ts';
import { lockFile } from '../daemon/core/lock-file.ts';
import { listIngresses } from '../store/maintenance/daemons.ts';
import { isLockHeld } from '../store/engine/instance-lock.ts';
import { urlOf, type Base } from './base.ts';

/**
 * Where hooks and decision links are answered, for a program that does not answer them itself: the ingress listener of
 * the newest daemon that lives on this machine (one of another machine is on a loopback address there), else what the
 * settings say a daemon would listen on.
 */
export async function ingressUrlOf({
  store,
  settings,
  paths,
}: Pick<Base, 'store' | 'settings' | 'paths'>): Promise<string> {
  const { host, bootId } = thisMachine();
  const ingresses = await listIngresses(store, { host, boot_id: bootId });
  const living = ingresses.find(
    ({ id }) => store.dialect.liveness === 'lease' || isLockHeld(lockFile(paths.instances, id)),
  );
  return living?.url ?? urlOf(settings.ingressAddr);
}
