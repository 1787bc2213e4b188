import { countDeliveries } from '../store/deliveries.ts';
import { type Facts, type Finding, ok, warn } from './entry.ts';
import { withStore } from './with-store.ts';

/** Pages that were given up for so long are still news, in milliseconds: a day. */
const RECENT_MS = 86_400_000;

/** Whether pages arrive: what was given up lately, and endpoints that do not take what is sent. */
export function examineNotifications({ openedStore, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const { endpoints, failing, waiting, dead, lastFailure } = await countDeliveries(db, clock.now() - RECENT_MS, clock.now());
    const own = endpoints === 0 ? 'No endpoint is registered' : `${endpoints} registered ${endpoints === 1 ? 'endpoint' : 'endpoints'}`;
    const queue = waiting === 0 ? '' : `, ${waiting} on their way`;
    if (dead > 0) return warn(`${own}${queue}. ${dead} given up within a day; the last because: ${lastFailure ?? 'unknown'}.`);
    if (failing > 0) return warn(`${own}${queue}. ${failing} did not take the last page.`);
    return ok(`${own}${queue}; none given up within a day.`);
  });
}
