import { rfc3339 } from '../../lib/clock.ts';
import { listBroken } from '../../store/audit/broken.ts';
import { fail, type Facts, type Finding, NAMED_MAX, ok } from '../entry.ts';
import { withStore } from '../with-store.ts';

const DAYS = 30;

/** Reports faults of the service that it noticed itself: what they would have written was refused. */
export function examineInvariants({ openedStore, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const rows = await listBroken(db, clock.now() - DAYS * 86_400_000, NAMED_MAX + 1);
    if (rows.length === 0) return ok(`In the last ${DAYS} days nothing was refused because of a fault of the service.`);
    const faults = rows.slice(0, NAMED_MAX).map(({ at, target }) => `${String(target)} at ${rfc3339(at)}`);
    const more = rows.length > NAMED_MAX ? ', and there are more' : '';
    return fail(
      `A fault of the service: ${faults.join('; ')}${more}. Nothing wrong was written. Report it with the lines of ` +
        '"svc audit list --operation invariant.broken".',
    );
  });
}
