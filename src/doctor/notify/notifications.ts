import { countDeliveries } from '../../store/notify/deliveries.ts';
import { type DaemonTargets, listLiveTargets } from '../../store/notify/targets.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Failed notifications are reported for this time, in milliseconds: a day. */
const RECENT_MS = 86_400_000;

/**
 * Counts the recipients and reports whether notifications arrive: recent failures, and endpoints that refuse messages.
 */
export function examineNotifications(facts: Facts): Promise<Finding> {
  const { openedStore, clock } = facts;
  return withStore(openedStore, async (store) => {
    const { endpoints, failing, waiting, dead, lastFailure } = await countDeliveries(
      store.db,
      clock.now() - RECENT_MS,
      clock.now(),
    );
    const own = `${counted(endpoints, 'registered endpoint', 'No')}${targetsOf(facts)}`;
    const queue = waiting === 0 ? '' : `, ${waiting} waiting`;
    // Some reasons end with a full stop.
    if (dead > 0)
      return warn(
        `${own}${queue}. ${dead} failed within a day; the last with: ` +
          `${(lastFailure ?? 'unknown').replace(/\.$/, '')}.`,
      );
    if (failing > 0) return warn(`${own}${queue}. ${failing} did not accept the last notification.`);
    const differing = differencesOf(await listLiveTargets(store));
    if (differing !== null)
      return warn(
        `${own}${queue}. The running daemons have different targets of --notify: ${differing}. Each is notified ` +
          'only while its daemon runs: give all daemons the same list.',
      );
    return ok(`${own}${queue}; none failed within a day.`);
  });
}

/** The targets of `--notify` are in the settings of each daemon, not in the store. */
function targetsOf({ targets }: Facts): string {
  const count = targets();
  return count === null
    ? ' (for the number of targets of --notify, run svc doctor --remote URL)'
    : ` and ${counted(count, 'target', 'no')} of --notify`;
}

/** The targets that some daemon lacks, with the daemons that have them; null where all lists are the same. */
function differencesOf(all: readonly DaemonTargets[]): string | null {
  const holders = new Map<string, { readonly name: string; readonly by: string[] }>();
  for (const { daemonId, host, targets } of all) {
    for (const { name, key } of targets) {
      const entry = holders.get(key) ?? { name, by: [] };
      entry.by.push(`${daemonId} on ${host}`);
      holders.set(key, entry);
    }
  }
  const partial = [...holders.values()].filter(({ by }) => by.length < all.length);
  return partial.length === 0 ? null : partial.map(({ name, by }) => `${name} is only on ${by.join(', ')}`).join('; ');
}

function counted(count: number, thing: string, none: 'No' | 'no'): string {
  return `${count === 0 ? none : count} ${thing}${count === 1 ? '' : 's'}`;
}
