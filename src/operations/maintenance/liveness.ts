import { type Liveness, readLiveness } from '../../store/maintenance/gone.ts';
import type { Store } from '../../store/store.ts';
import type { Services } from '../core/services.ts';

/** Which daemons live, and which jobs count as running without one. */
export function livenessOf({
  store,
  services,
}: {
  readonly store: Store;
  readonly services: Pick<Services, 'clock' | 'lockSeenAt'>;
}): Promise<Liveness> {
  // A daemon that lives is seen now.
  const now = services.clock.now();
  return readLiveness(store, (id) => (services.lockSeenAt(id) ?? 0) >= now);
}
