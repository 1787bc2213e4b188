import { countDeliveries } from '../store/deliveries.ts';
import { type Facts, type Finding, ok, warn } from './entry.ts';
import { withStore } from './with-store.ts';

/** Pages that were given up for so long are still news, in milliseconds: a day. */
const RECENT_MS = 86_400_000;

/** Who is told, and whether pages arrive: what was given up lately, and endpoints that do not take what is sent. */
export function examineNotifications(facts: Facts): Promise<Finding> {
  const { openedStore, clock } = facts;
  return withStore(openedStore, async ({ db }) => {
    const { endpoints, failing, waiting, dead, lastFailure } = await countDeliveries(db, clock.now() - RECENT_MS, clock.now());
    const own = `${counted(endpoints, 'registered endpoint', 'No')}${targetsOf(facts)}`;
    const queue = waiting === 0 ? '' : `, ${waiting} on their way`;
    // Some reasons are sentences, others are not.
    if (dead > 0) return warn(`${own}${queue}. ${dead} given up within a day; the last because: ${(lastFailure ?? 'unknown').replace(/\.$/, '')}.`);
    if (failing > 0) return warn(`${own}${queue}. ${failing} did not take the last page.`);
    return ok(`${own}${queue}; none given up within a day.`);
  });
}

/** The targets that an operator named are in the settings of the daemon that was given them, and in no store. */
function targetsOf({ targets }: Facts): string {
  return targets === null ? ' (how many targets --notify has, the daemon says: svc doctor --remote URL)' : ` and ${counted(targets, 'target', 'no')} of --notify`;
}

function counted(count: number, thing: string, none: 'No' | 'no'): string {
  return `${count === 0 ? none : count} ${thing}${count === 1 ? '' : 's'}`;
}
