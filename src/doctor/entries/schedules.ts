import { listRefused } from '../../store/schedules/schedules.ts';
import { type Facts, type Finding, NAMED_MAX, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/**
 * Reports enabled schedules whose last slot queued no job, and why: no user waits for a schedule, so a failure would
 * stay unseen.
 */
export function examineSchedules({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const refused = await listRefused(db, NAMED_MAX + 1);
    if (refused.length === 0) return ok('The last slot of each enabled schedule queued its job.');
    const named = refused
      .slice(0, NAMED_MAX)
      .map(({ name, last_refusal: why }) => `The last slot of ${name} was refused: ${why ?? 'no reason is known.'}`);
    return warn(`${named.join(' ')}${refused.length > NAMED_MAX ? ' There are more: svc schedule list.' : ''}`);
  });
}
