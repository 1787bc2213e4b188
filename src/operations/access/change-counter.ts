import type { Store } from '../../store/store.ts';

interface Seen {
  version: string | null;
}

const seen = new WeakMap<Store, Seen>();

/**
 * The store's change counter, asked at most once in a turn of the event loop (on SQLite it costs 6 us of locks, and a
 * request needs it twice). Requests of one turn were all on their way before it began, so none of them can expect
 * what was committed during it. Null where there is no cheap way to tell.
 */
export function changeCounter(store: Store): string | null {
  const known = seen.get(store);
  if (known !== undefined) return known.version;
  const now = { version: store.version() };
  seen.set(store, now);
  setImmediate(() => seen.delete(store));
  return now.version;
}
