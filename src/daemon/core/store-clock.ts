import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';

/** A clock that was moved by more than this against the monotonic one was set, in milliseconds; less is drift. */
const SET_MS = 1_000;

interface StoreTime {
  /** Milliseconds since the epoch, by the clock of deadlines in the store. */
  readonly now: number;
  /** How the clock was set since the last read. `first` also where nothing is known because there was no read. */
  readonly wasSet: 'first' | 'no' | 'ahead' | 'back';
}

/** Reads the clock of deadlines in the store, and notices that it was set: the monotonic clock never is. */
export class StoreClock {
  readonly #store: Pick<Store, 'db' | 'dialect'>;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The least and the most that the clock was ahead of the monotonic one at the last read. */
  #offset: { readonly least: number; readonly most: number } | null = null;

  constructor({ store, clock }: { readonly store: Pick<Store, 'db' | 'dialect'>; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async read(): Promise<StoreTime> {
    const { db, dialect } = this.#store;
    const askedAt = this.#clock.monotonic();
    const now = await dialect.clock(db, this.#clock.now());
    // A database that answers late read its clock at any moment between request and answer.
    const offset = { least: now - this.#clock.monotonic(), most: now - askedAt };
    const before = this.#offset;
    this.#offset = offset;
    if (before === null) return { now, wasSet: 'first' };
    if (offset.most < before.least - SET_MS) return { now, wasSet: 'back' };
    return { now, wasSet: offset.least > before.most + SET_MS ? 'ahead' : 'no' };
  }
}
