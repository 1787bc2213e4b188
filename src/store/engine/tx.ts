import type { Keyring } from '../../lib/seal.ts';
import type { Dialect } from './dialect.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Db } from '../schema/schema.ts';
import type { TagContext } from './tags/tags.ts';

/** What a write works with. All of it belongs to one member of one group. */
export interface Tx extends TagContext {
  readonly db: Db;
  readonly dialect: Dialect;
  /** Wall time of this write in milliseconds. */
  readonly now: number;
  /** The keys of this store, which authenticate what is written. */
  readonly ring: Keyring;
  /** Appends a row to the audit ledger, in the same commit. */
  record(entry: LedgerEntry): void;
  /** Adds one to a counter, in the same commit: all that a group counts is one statement for each counter. */
  count(counter: Counter): void;
  /** Notes how much a total changes. If it grew by the end of this write, `total` may refuse the write. */
  grow(total: BoundedTotal, by: number): void;
  /**
   * Tries `work` in the same transaction after all writes of the group, once however many of them ask for it. It is
   * compared by identity. It may fail or be left out: then `orElse`, which must not throw, is called once the write is
   * durable.
   */
  follow(work: Work<void>, orElse: () => void): void;
  /** Calls back once the write is durable. Must not throw. */
  afterCommit(notify: () => void): void;
  /** Announces this write to other processes. A write with an `afterCommit` callback is announced anyway. */
  announce(): void;
  /**
   * Takes a statement whose result is not needed, so that the next one need not wait for it. When it fails, the write
   * fails.
   */
  later(statement: Promise<unknown>): void;
}

/** A number in the store. The counting code keeps the object, which is compared by identity. */
export interface Counter {
  /** A group adds in the order of the names, so that concurrent processes do not deadlock. */
  readonly name: string;
  add(db: Db, count: number): Promise<unknown>;
}

/** A total over rows of the store that has a limit. It is compared by identity. */
export interface BoundedTotal {
  /**
   * Asked once, at the end of a write by which the total grew: so a write that adds before it removes is not refused
   * for what lies between. What it throws refuses the write.
   */
  require(db: Db, growth: number): Promise<void>;
}

/** May run more than once, each time on a clean slate: it has no effect but through its `tx`. */
export type Work<T> = (tx: Tx) => Promise<T>;

export interface WriteOptions {
  /** Begins at once if no write is running, and does not wait for others to join. */
  readonly prompt?: boolean;
}
