import { holdLock as realHoldLock, type InstanceLock } from '../../../../src/store/engine/instance-lock.ts';
import { atDeath } from '../../world/current.ts';

export * from '../../../../src/store/engine/instance-lock.ts';

/** A lock is freed with its process, and no longer known: else its database would be kept for good. */
export function holdLock(file: string): InstanceLock {
  const lock = realHoldLock(file);
  return { release: atDeath(() => lock.release()) };
}
