import { countDeliveries } from '../../store/notify/deliveries.ts';
import { type DaemonTargets, listLiveTargets } from '../../store/notify/targets.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Pages that were given up for so long are still news, in milliseconds: a day. */
const RECENT_MS = 86_400_000;

/** Who is told, and whether pages arrive: what was given up lately, and endpoints that do not take what is sent. */
export function examineNotifications(facts: Facts): Promise<Finding> {
  const { openedStore, clock } = facts;
  return withStore(openedStore, async ({ db, dialect }) => {
    const { endpoints, failing, waiting, dead, lastFailure } = await countDeliveries(
      db,
      clock.now() - RECENT_MS,
      clock.now(),
    );
    const own = `${counted(endpoints, 'registered endpoint', 'No')}${targetsOf(facts)}`;
    const queue = waiting === 0 ? '' : `, ${waiting} on their way`;
    // Some reasons are sentences, others are not.
    if (dead > 0)
      return warn(
        `${own}${queue}. ${dead} given up within a day; the last because: ` +
          `${(lastFailure ?? 'unknown').replace(/\.$/, '')}.`,
      );
    if (failing > 0) return warn(`${own}${queue}. ${failing} did not take the last page.`);
    const differing = differencesOf(await listLiveTargets({ db, dialect }));
    if (differing !== null)
      return warn(
        `${own}${queue}. The running daemons have different targets of --notify: ${differing}. Each is told, ` +
          'but only while its daemon runs: give all daemons the same list.',
      );
    return ok(`${own}${queue}; none given up within a day.`);
  });
}

/** The targets that an operator named are in the settings of the daemon that was given them, and in no store. */
function targetsOf({ targets }: Facts): string {
  return targets === null
    ? ' (how many targets --notify has, the daemon says: svc doctor --remote URL)'
    : ` and ${counted(targets, 'target', 'no')} of --notify`;
}

/** Which targets some daemon lacks, and who has them; null where all lists are the same. */
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
