import type { Clock } from '../../lib/clock.ts';
import { deleteExpiredSessions, hasExpiredSessions } from '../../store/access/tokens.ts';
import { STORE_AREAS } from '../../store/areas.ts';
import { correctTime, type StoredTime } from '../../store/stored-times.ts';
import type { Store } from '../../store/store.ts';
import type { MakeLoop } from '../core/loop.ts';
import { MachineClock, StoreClock } from '../core/store-clock.ts';
import { recordService } from '../jobs/job-transitions.ts';

/** The interval of looks at the clock, in milliseconds: for this long after it was set back, old times still count. */
const LOOK_EVERY_MS = 1_000;
/**
 * After the start of a daemon, in milliseconds: what a clock has left that was set back while none ran looks like all
 * that was stored lately, where the clock of a machine without a battery is behind until it is set.
 */
export const SETTLE_MS = 600_000;

interface StoredTimesDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Of all areas. */
export const STORED_TIMES = STORE_AREAS.flatMap(({ times = [] }) => times);

/** Keeps the stored times right: after the clock was set back, and of what has expired, so that it stays expired. */
export class StoredTimes {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #time: StoreClock;
  readonly #machine: MachineClock;
  /** By the monotonic clock. */
  #correctAt: number;

  constructor(deps: StoredTimesDeps) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#time = new StoreClock(deps);
    this.#machine = new MachineClock(deps.clock);
    this.#correctAt = deps.clock.monotonic() + SETTLE_MS;
  }

  /** One look. Returns how many rows were corrected. */
  async lookOnce(): Promise<number> {
    const [store, machine] = [await this.#time.read(), await this.#machine.read()];
    const { now } = store;
    if (await hasExpiredSessions(this.#store.db, now)) await this.#store.write((tx) => deleteExpiredSessions(tx, now));
    if (store.wasSet === 'back' || machine.wasSet === 'back') this.#correctAt = this.#clock.monotonic();
    const isDue = this.#clock.monotonic() >= this.#correctAt;
    const corrected = isDue ? await this.#correct({ store: now, machine: machine.now }) : 0;
    if (isDue) this.#correctAt = Number.POSITIVE_INFINITY;
    return corrected;
  }

  /** One that cannot be corrected does not block the others; the next look tries all again. */
  async #correct(now: Readonly<Record<StoredTime['by'], number>>): Promise<number> {
    const writes = STORED_TIMES.map((time) =>
      this.#store.write(async (tx) => {
        const rows = await correctTime(tx, time, now[time.by]);
        if (rows > 0) recordService(tx, 'clock.correct', time.name, { rows });
        return rows;
      }),
    );
    let total = 0;
    for (const each of await Promise.allSettled(writes)) {
      if (each.status === 'rejected') throw each.reason;
      total += each.value;
    }
    return total;
  }
}

export const storedTimesLoop: MakeLoop<StoredTimesDeps> = (deps) => {
  const storedTimes = new StoredTimes(deps);
  return {
    name: 'stored-times',
    everyMs: LOOK_EVERY_MS,
    wakeOn: [],
    restsWithoutCommits: true,
    once: async () => ({ did: { corrected: await storedTimes.lookOnce() } }),
  };
};
