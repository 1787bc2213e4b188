import type { Store } from '../../../src/store/store.ts';

/** A store that says when it is touched. The change counter may be asked: it tells nothing. */
export function alarmed(store: Store, alarm: { touched: number }): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      if (name === 'db' || name === 'write') alarm.touched += 1;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}
