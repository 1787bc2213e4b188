import type { Store } from '../store/store.ts';
import { type Finding, unknown } from './entry.ts';

/**
 * Runs an examination that needs the store. Without one the finding is `unknown`; the entry `store` reports why it is
 * not open.
 */
export async function withStore(
  openedStore: () => Store,
  examine: (store: Store) => Promise<Finding>,
): Promise<Finding> {
  let store: Store;
  try {
    store = openedStore();
  } catch {
    return unknown('The store is not open.');
  }
  return examine(store);
}
