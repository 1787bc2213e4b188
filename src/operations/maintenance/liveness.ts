import { aliveNow, type IsAlive, type Liveness, readLiveness } from '../../store/maintenance/gone.ts';
import type { Store } from '../../store/store.ts';
import type { Services } from '../core/services.ts';

interface Parts {
  readonly store: Store;
  readonly services: Pick<Services, 'clock' | 'lockSeenAt'>;
}

/** Which daemons live, and which jobs count as running without one. */
export function livenessOf(parts: Parts): Promise<Liveness> {
  return readLiveness(parts.store, lockOf(parts));
}

/** Tells which of the daemons that have not stopped in order live. */
export function isAliveOf(parts: Parts): Promise<IsAlive> {
  return aliveNow(parts.store, lockOf(parts));
}

function lockOf({ services }: Parts): (daemonId: string) => boolean {
  // A daemon that lives is seen now.
  const now = services.clock.now();
  return (id) => (services.lockSeenAt(id) ?? 0) >= now;
}
