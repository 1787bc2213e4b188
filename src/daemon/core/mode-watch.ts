import type { LoopRow } from './loop.ts';
import type { ModeChange } from '../../config/data-dir-modes.ts';
import type { Clock } from '../../lib/clock.ts';
import { listRunSince } from '../../store/jobs/jobs.ts';
import type { Store } from '../../store/store.ts';

interface ModeWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Puts modes right and answers which. */
  readonly restore: () => readonly ModeChange[];
  /** The daemon's id in the ledger; null before it has one. */
  readonly self: () => string | null;
}

/** How often the modes are looked at while nothing else happens, in milliseconds: seven files, some 0.2 ms. */
const MODES_EVERY_MS = 2_000;
/** Jobs that one row of the ledger names. */
const JOBS_MAX = 100;
/** A job that ended so long before the last good look is named too: clocks of two databases need not agree. */
const MARGIN_MS = 5_000;

/**
 * Keeps the modes of the data directory and the seal key as they have to be, where jobs run as the account of the
 * daemon: Landlock does not cover `chmod`, so a job can close them to the daemon, or open them to others. A change is
 * put right at once, and is in the ledger with the jobs that ran since the look before.
 */
export class ModeWatch {
  readonly #deps: ModeWatchDeps;
  #soundAt: number;
  #unrecorded: ModeChange[] = [];
  #checking: Promise<void> | null = null;

  constructor(deps: ModeWatchDeps) {
    this.#deps = deps;
    this.#soundAt = deps.clock.now();
  }

  /**
   * Looks, and puts right. Joins a look that is under way. Rejects when a change could not be recorded; it is kept for
   * the next look.
   */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = null));
    return this.#checking;
  }

  async #check(): Promise<void> {
    const { store, clock, restore, self } = this.#deps;
    const lookedAt = clock.now();
    this.#unrecorded.push(...restore());
    if (this.#unrecorded.length > 0) {
      const jobs = await listRunSince(store.db, this.#soundAt - MARGIN_MS, JOBS_MAX);
      const changes = this.#unrecorded;
      const entries = changes.map(({ entry, found }) => `${entry} ${found}`);
      const id = self();
      await store.write(async (tx) => {
        const principal = id === null ? 'daemon' : `daemon:${id}`;
        tx.record({
          principal,
          owner: 'gatehouse',
          via: 'daemon',
          operation: 'data_dir.modes',
          target: 'data_dir',
          detail: { changes, entries, jobs },
        });
      });
      this.#unrecorded = [];
    }
    this.#soundAt = lookedAt;
  }
}

/** Tries again after a look at the modes: a file that a job closed, or opened to others, is as it was. */
export async function withModes<T>(watch: Pick<ModeWatch, 'check'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    // What the look itself fails with is told by the loop that looks; here the first failure counts, if it comes again.
    await watch.check().catch(() => undefined);
    return work();
  }
}

export interface ModesLoopDeps {
  /** Undefined where jobs run as another account than the daemon. */
  readonly modes?: ModeWatch;
}

export const modesLoop: LoopRow<ModesLoopDeps> = {
  name: 'modes',
  everyMs: MODES_EVERY_MS,
  wakeOn: [],
  runs: ({ modes }) => modes !== undefined,
  once: async ({ modes }) => modes?.check(),
};
