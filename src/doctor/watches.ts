import { listWatches } from '../store/deadmen.ts';
import { type Facts, type Finding, ok, warn } from './entry.ts';
import { withStore } from './with-store.ts';

/** Dead-man watches that can hear nothing any more, as their webhook is gone, and those that hear nothing now. */
export function examineWatches({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const all = await listWatches(db);
    const deaf = all.filter((watch) => watch.heard_name === null).map(({ name, webhook }) => `${name} listens to the webhook ${webhook}, which is gone`);
    const silent = all.filter((watch) => watch.heard_name !== null && watch.tripped_at !== null).map(({ name, webhook }) => `${name} hears nothing of the webhook ${webhook}`);
    const troubles = [...deaf, ...silent];
    if (troubles.length > 0) return warn(`${troubles.join('; ')}.`);
    return ok(`Dead-man watches: ${all.length}, none of them silent.`);
  });
}
