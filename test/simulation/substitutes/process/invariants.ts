import { type InvariantBroken, onBroken as realOnBroken } from '../../../../src/lib/invariants/invariants.ts';
import { atDeath } from '../../world/current.ts';

export * from '../../../../src/lib/invariants/invariants.ts';

/** A listener is gone with its process: else it would keep all of a dead daemon, and write to its store. */
export function onBroken(listener: (broken: InvariantBroken) => void): () => void {
  return atDeath(realOnBroken(listener));
}
