import { listWatches } from '../../store/deadman/watches.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Reports dead-man watches that are silent. */
export function examineWatches({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const all = await listWatches(db);
    const silent = all
      .filter((watch) => watch.tripped_at !== null)
      .map(({ name, webhook }) => `${name} receives nothing from the webhook ${webhook}`);
    if (silent.length > 0) return warn(`${silent.join('; ')}.`);
    return ok(`Dead-man watches: ${all.length}, none silent.`);
  });
}
