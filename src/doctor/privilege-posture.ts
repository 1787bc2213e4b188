import { countPrivileged } from '../store/jobs.ts';
import { type Facts, type Finding, ok, warn } from './entry.ts';
import { withStore } from './with-store.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** How many runs opted out of the sandbox lately. */
export function examinePrivilegePosture({ clock, openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const count = await countPrivileged(store.db, clock.now() - DAYS * DAY_MS);
    if (count === 0) return ok(`No run queued in the last ${DAYS} days ran unsandboxed.`);
    return warn(`${count} ${count === 1 ? 'run' : 'runs'} queued in the last ${DAYS} days ran unsandboxed.`);
  });
}
