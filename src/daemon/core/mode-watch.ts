import type { LoopRow, MakeLoop } from './loop.ts';
import type { ModeChange } from '../../config/data-dir-modes.ts';
import type { Clock } from '../../lib/clock.ts';
import { listRunSince } from '../../store/jobs/jobs.ts';
import type { Store } from '../../store/store.ts';

interface ModeWatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Restores modes and returns the changes. */
  readonly restore: () => readonly ModeChange[];
  /** The daemon's id in the ledger; null before it has one. */
  readonly self: () => string | null;
}

/** How often the modes are looked at while nothing else happens, in milliseconds: eight files, some 0.2 ms. */
const MODES_EVERY_MS = 2_000;
/** Jobs that one row of the ledger names. */
const JOBS_MAX = 100;
/** Jobs that ended this long before the last good check are named too, because clocks may differ. */
const MARGIN_MS = 5_000;

/**
 * Restores the modes of the data directory and the seal key where jobs run as the account of the daemon: Landlock does
 * not cover `chmod`, so a job can close them to the daemon, or open them to others. A change is reverted at once and
 * recorded in the ledger with the jobs that ran since the last check.
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
   * Checks and restores. Joins a running check. Rejects when a change could not be recorded; the next check records it.
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
      const record = { owner: 'gatehouse', via: 'daemon', operation: 'data_dir.modes', target: 'data_dir' };
      const principal = id === null ? 'daemon' : `daemon:${id}`;
      await store.write(async (tx) => tx.record({ ...record, principal, detail: { changes, entries, jobs } }));
      this.#unrecorded = [];
    }
    this.#soundAt = lookedAt;
  }
}

/** Repeats a failed call after a check of the modes, which restores a file that a job closed or opened. */
export async function withModes<T>(watch: Pick<ModeWatch, 'check'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    // The loop of the check reports its own failures; here the repeated call reports the failure.
    await watch.check().catch(() => undefined);
    return work();
  }
}

interface ModesLoopDeps {
  /** Undefined where jobs run as another account than the daemon. */
  readonly modes?: ModeWatch;
}

export const modesLoop: MakeLoop<ModesLoopDeps, LoopRow | null> = ({ modes }) =>
  modes === undefined ? null : { name: 'modes', everyMs: MODES_EVERY_MS, wakeOn: [], once: () => modes.check() };
