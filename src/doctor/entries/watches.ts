import { listWatches } from '../../store/events/deadmen.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Dead-man watches that hear nothing now. */
export function examineWatches({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const all = await listWatches(db);
    const silent = all
      .filter((watch) => watch.tripped_at !== null)
      .map(({ name, webhook }) => `${name} hears nothing of the webhook ${webhook}`);
    if (silent.length > 0) return warn(`${silent.join('; ')}.`);
    return ok(`Dead-man watches: ${all.length}, none of them silent.`);
  });
}
