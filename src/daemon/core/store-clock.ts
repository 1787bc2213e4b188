import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';

/** A clock that was moved by more than this against the monotonic one was set, in milliseconds; less is drift. */
const SET_MS = 1_000;

interface ClockTime {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How the clock was set since the last read. `first` also where nothing is known because there was no read. */
  readonly wasSet: 'first' | 'no' | 'ahead' | 'back';
}

/** Reads a clock, and notices that it was set: the monotonic clock never is. */
class WatchedClock {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #time: () => Promise<number>;
  /** The least and the most that the clock was ahead of the monotonic one at the last read. */
  #offset: { readonly least: number; readonly most: number } | null = null;

  constructor(clock: Pick<Clock, 'monotonic'>, time: () => Promise<number>) {
    this.#clock = clock;
    this.#time = time;
  }

  async read(): Promise<ClockTime> {
    const askedAt = this.#clock.monotonic();
    const now = await this.#time();
    // A database that answers late read its clock at any moment between request and answer.
    const offset = { least: now - this.#clock.monotonic(), most: now - askedAt };
    const before = this.#offset;
    this.#offset = offset;
    if (before === null) return { now, wasSet: 'first' };
    if (offset.most < before.least - SET_MS) return { now, wasSet: 'back' };
    return { now, wasSet: offset.least > before.most + SET_MS ? 'ahead' : 'no' };
  }
}

/** The clock of deadlines in the store: on PostgreSQL that of the database. */
export class StoreClock extends WatchedClock {
  constructor({ store, clock }: { readonly store: Pick<Store, 'db' | 'dialect'>; readonly clock: Clock }) {
    super(clock, () => store.dialect.clock(store.db, clock.now()));
  }
}

/** The clock of this machine. */
export class MachineClock extends WatchedClock {
  constructor(clock: Clock) {
    super(clock, () => Promise.resolve(clock.now()));
  }
}
