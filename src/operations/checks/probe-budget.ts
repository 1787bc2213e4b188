import { showProbeRate } from '../../domain/checks/probe-rate.ts';
import { Failure } from '../../domain/failure.ts';
import { probeRateOf, totalProbeRate } from '../../store/checks/probe-rates.ts';
import type { BoundedTotal } from '../../store/engine/tx.ts';
import type { WriteContext } from '../core/operation.ts';

/**
 * How many probes a second the enabled checks may take together (T88). `perSecond` is the setting. A write after which
 * they take no more than before is never refused: so a store that is over the limit can be brought below it.
 */
export function probeBudget(perSecond: number): BoundedTotal {
  return {
    async require(db, growth) {
      const total = await totalProbeRate(db);
      if (total <= perSecond * 1_000) return;
      throw new Failure(
        'conflict',
        `This would take ${showProbeRate(growth)} probes a second more. The enabled checks take ` +
          `${showProbeRate(total - growth)}, and the limit is ${perSecond} (--check-probes-per-second). Nothing was ` +
          'changed: use a longer interval or fewer targets, or disable another check.',
      );
    },
  };
}

/** Does the work that writes one check, and notes what it takes afterwards. */
export async function withinBudget<T>(
  { tx, services }: WriteContext,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  // Daemons that share a database add to one sum. Taken before rows, so that two that change one check do not deadlock.
  await tx.dialect.lockKey(tx.db, 'check-budget');
  const before = await probeRateOf(tx.db, name);
  const result = await work();
  tx.grow(services.probeBudget, (await probeRateOf(tx.db, name)) - before);
  return result;
}
