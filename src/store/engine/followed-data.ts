import type { Clock } from '../../lib/clock.ts';
import { inNoName } from '../../lib/flow/in-name-of.ts';
import type { Db, Table } from '../schema/schema.ts';

/** How long data counts as current if other processes' commits are reported late or never, in milliseconds. */
const CURRENT_MS = 1_000;

/** What it needs of a store. */
export interface FollowedStore {
  readonly db: Db;
  version(tables: readonly Table[]): string | null;
  onForeignCommit(listener: () => void): () => void;
}

interface Source<T> {
  /** What `mark` and `read` read. */
  readonly tables: readonly Table[];
  /** A short text that is another one after each change of what is read. */
  mark(db: Db): Promise<string>;
  read(db: Db): Promise<T>;
}

/** Data that a process keeps of a store, read and prepared once for each version of it. */
export class FollowedData<T> {
  readonly #store: FollowedStore;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #source: Source<T>;
  #kept: { readonly mark: string; readonly data: T } | null = null;
  /** The last value of the change counter of the store; without a counter, #currentUntil limits the reads. */
  #seen: string | null = null;
  #currentUntil = Number.NEGATIVE_INFINITY;
  /** How often `forget` was called: a call during a read counts for what that read finds. */
  #forgets = 0;
  #listening = false;
  #refreshing: Promise<T> | null = null;
  #next: Promise<T> | null = null;

  constructor(store: FollowedStore, clock: Pick<Clock, 'monotonic'>, source: Source<T>) {
    this.#store = store;
    this.#clock = clock;
    this.#source = source;
  }

  /**
   * Includes all that was committed before the call; on PostgreSQL, all that this process was notified of or called
   * `forget` for.
   */
  current(): Promise<T> {
    if (this.#kept !== null && this.#isCurrent()) return Promise.resolve(this.#kept.data);
    if (this.#refreshing === null) {
      const reading = inNoName(() => this.#refresh()).finally(() => (this.#refreshing = null));
      this.#refreshing = reading;
      return reading;
    }
    // A caller that arrives during a read may know of a later commit. All waiting callers share the next read.
    const again = (): Promise<T> => {
      this.#next = null;
      return this.current();
    };
    this.#next ??= this.#refreshing.then(again, again);
    return this.#next;
  }

  /** The data may have changed: it is looked at again at the next call. */
  forget(): void {
    this.#forgets += 1;
    this.#currentUntil = Number.NEGATIVE_INFINITY;
    this.#seen = null;
  }

  #isCurrent(): boolean {
    const version = this.#version();
    return version === null ? this.#clock.monotonic() < this.#currentUntil : version === this.#seen;
  }

  #version(): string | null {
    return this.#store.version(this.#source.tables);
  }

  async #refresh(): Promise<T> {
    this.#listen();
    // Read before the rows: a commit in between is found by the next call.
    const seen = this.#version();
    const currentUntil = this.#clock.monotonic() + CURRENT_MS;
    const forgets = this.#forgets;
    const { db } = this.#store;
    const mark = await this.#source.mark(db);
    if (this.#kept?.mark !== mark) this.#kept = { mark, data: await this.#source.read(db) };
    // Only now: after a read that failed, older data would count as current.
    if (forgets === this.#forgets) {
      this.#seen = seen;
      this.#currentUntil = currentUntil;
    }
    return this.#kept.data;
  }

  /** Where the store has no cheap counter, it reports the commits of others; who writes here calls `forget`. */
  #listen(): void {
    if (this.#listening || this.#version() !== null) return;
    this.#listening = true;
    this.#store.onForeignCommit(() => this.forget());
  }
}
