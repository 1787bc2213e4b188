import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { numberOf, type SqliteConnection } from './driver.ts';

/**
 * A commit of another process writes the log, syncs it, and only then becomes visible. The event comes with the first
 * of these, so that a single check would be too early: checks follow after these pauses, in milliseconds.
 */
const LOOK_AGAIN_MS = [1, 1, 2, 4, 8, 16, 32];
/**
 * The same for the event of a commit of this process, whose event may be that of another one, too: the kernel merges
 * events. Two commits of a job in an idle daemon cost 16 checks otherwise.
 */
const LOOK_AFTER_OWN_MS = [4, 16, 44];

/** Reports the commits of other processes. One file watcher serves all listeners; it runs while there are listeners. */
export class ForeignCommits {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #busy: () => boolean;
  readonly #version: () => number;
  readonly #listeners = new Set<() => void>();
  #watcher: FSWatcher | null = null;
  #seen: number | null = null;
  #cancel: (() => void) | null = null;
  /** The number of the next check; null without one. */
  #due: number | null = null;
  #pauses: readonly number[] = LOOK_AGAIN_MS;
  #committed = false;

  constructor(file: string, writer: SqliteConnection, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#busy = () => writer.raw.isTransaction;
    // The writing connection's own commits do not move its data_version: what moves it came from elsewhere.
    this.#version = numberOf(writer.raw, 'pragma data_version');
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watcher ??= this.#watch();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** This process has committed: the next event is of that. */
  committed(): void {
    this.#committed = true;
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
    this.#cancel?.();
    this.#cancel = null;
    this.#due = null;
  }

  #watch(): FSWatcher | null {
    const log = `${basename(this.#file)}-wal`;
    this.#seen = this.#version();
    try {
      const watcher = watch(dirname(this.#file), { persistent: false }, (_kind, name) => {
        if (name === log) this.#changed();
      });
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      // The system has no watch left to give (its limit is for all programs of a user): the polls still find
      // everything.
      return null;
    }
  }

  #changed(): void {
    const isOwn = this.#committed;
    this.#committed = false;
    if (isOwn && this.#due === null) return this.#lookLater(LOOK_AFTER_OWN_MS, 0);
    // A commit writes several blocks with an event for each: the check that is due in 1 ms sees them all.
    if (isOwn || (this.#pauses === LOOK_AGAIN_MS && this.#due === 1)) return;
    this.#cancel?.();
    this.#look(LOOK_AGAIN_MS, 0);
  }

  #look(pauses: readonly number[], turn: number): void {
    const current = this.#busy() ? this.#seen : this.#version();
    if (current !== this.#seen) {
      this.#seen = current;
      for (const listener of this.#listeners) listener();
    }
    this.#lookLater(pauses, turn);
  }

  #lookLater(pauses: readonly number[], turn: number): void {
    this.#pauses = pauses;
    const pauseMs = pauses[turn];
    this.#due = pauseMs === undefined ? null : turn + 1;
    this.#cancel = pauseMs === undefined ? null : this.#clock.after(pauseMs, () => this.#look(pauses, turn + 1));
  }
}
