import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { SqliteConnection } from './driver.ts';

/**
 * A commit of another process writes the log, syncs it, and only then becomes visible. The event comes with the first
 * of these, so that a single check would be too early: checks follow after these pauses, in milliseconds.
 */
const LOOK_AGAIN_MS = [1, 1, 2, 4, 8, 16, 32];

/** Reports the commits of other processes. One file watcher serves all listeners; it runs while there are listeners. */
export class ForeignCommits {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #busy: () => boolean;
  readonly #version: () => unknown;
  readonly #listeners = new Set<() => void>();
  #watcher: FSWatcher | null = null;
  #seen: unknown;
  #cancel: (() => void) | null = null;
  /** The number of the next check; null without one. */
  #due: number | null = null;

  constructor(file: string, writer: SqliteConnection, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#busy = () => writer.raw.isTransaction;
    // The writing connection's own commits do not move its data_version: what moves it came from elsewhere.
    const statement = writer.raw.prepare('pragma data_version');
    this.#version = () => statement.get()?.['data_version'];
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watcher ??= this.#watch();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
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
        // A commit writes several blocks with an event for each: the check that is due in 1 ms sees them all.
        if (name === log && this.#due !== 1) this.#look(0);
      });
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      // The system has no watch left to give (its limit is for all programs of a user): the polls still find
      // everything.
      return null;
    }
  }

  #look(turn: number): void {
    this.#cancel?.();
    this.#cancel = null;
    const current = this.#busy() ? this.#seen : this.#version();
    if (current !== this.#seen) {
      this.#seen = current;
      for (const listener of this.#listeners) listener();
    }
    const next = LOOK_AGAIN_MS[turn];
    this.#due = next === undefined ? null : turn + 1;
    if (next !== undefined) this.#cancel = this.#clock.after(next, () => this.#look(turn + 1));
  }
}
