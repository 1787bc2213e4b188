import type { RawBuilder, SelectQueryBuilder } from 'kysely';
import type { Db, Schema, Table } from '../schema/schema.ts';
import type { Migration } from './migration.ts';
import type { Snapshot, SnapshotFormat } from './snapshot.ts';

/**
 * What a database error means for the caller. `missing` is a table that is not there, `aborted` only says that an
 * earlier statement of the transaction failed, `other` is a fault of ours.
 */
export type StoreFault = 'busy' | 'unique' | 'full' | 'lost' | 'missing' | 'aborted' | 'other';

/**
 * What differs between the databases, as named facts. Queries ask these; nothing branches on the name,
 * which is for people (doctor, log).
 */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /**
   * How the death of another daemon is seen: `lock`, an operating-system lock on its instance file (all daemons
   * share one machine), or `lease`, a time in the database that it must renew.
   */
  readonly liveness: 'lock' | 'lease';
  /** The ledger chain that this process appends to. One chain per daemon where commits run side by side. */
  ledgerChain(daemonId: string): string;
  /**
   * The ids of the oldest jobs that this daemon may claim, read off the partial index that holds exactly these: jobs
   * that any daemon may run, and jobs for the node of this one. With `claim` they are locked, and jobs that another
   * daemon is claiming are skipped.
   */
  readyJobs(daemonId: string, limit: number, purpose: 'look' | 'claim'): RawBuilder<{ id: string }>;
  /** Follows the name of a table in a query, and selects this index where the planner would choose another one. */
  indexedBy(index: string): RawBuilder<unknown>;
  /** Locks the rows that a query of a write reads until its transaction ends. */
  holdRows<T extends Table, O>(query: SelectQueryBuilder<Schema, T, O>): SelectQueryBuilder<Schema, T, O>;
  /** Locks `key` until the transaction ends, so that a reader of the queue of a key sees all earlier writes. */
  lockKey(db: Db, key: string): Promise<void>;
  /**
   * Locks `key` for sharing; false, at once, while another transaction has it by `lockKey` or waits for it. Where one
   * write runs at a time there is nothing to lock.
   */
  shareKey(db: Db, key: string): Promise<boolean>;
  /** As `lockKey` for the concurrency key of a job. Before the job's row is changed: first the key, then rows. */
  lockKeyOf(db: Db, jobId: string): Promise<void>;
  /** Milliseconds since the epoch by the clock that leases are measured with. */
  leaseClock(db: Db): Promise<number>;
  /**
   * Milliseconds since the epoch by the clock that deadlines in the store are measured with: the database's, where
   * daemons of several machines share it, else that of this process, which hands its own time over.
   */
  clock(db: Db, processNow: number): Promise<number>;
  /** The form of a copy of the database. */
  readonly snapshotFormat: SnapshotFormat;
  /** The database's own check of its files, for the doctor. An empty list is a sound database. */
  integrity(db: Db): Promise<readonly string[]>;
  /** `TRIGGER on TABLE` of those, rewrite rules included, that change what a statement does. No migration makes one. */
  triggers(db: Db): Promise<readonly string[]>;
  /** Gives some free pages of the file back to the file system, inside a write. True while more of them remain. */
  shrink(db: Db): Promise<boolean>;
  /** About how large a table is. `bytes` is null where only its whole file is known. */
  sizeOf(db: Db, table: Table): Promise<{ readonly rows: number; readonly bytes: number | null }>;
  /** How large the whole database is. `cannotShrink`: its file keeps its size, because an old build made it. */
  fileSize(db: Db): Promise<{ readonly bytes: number; readonly freeBytes: number; readonly cannotShrink: boolean }>;
  faultOf(error: unknown): StoreFault;
}

/** Takes statements whose results are not needed: they must have succeeded before the commit. */
export type Later = (statement: Promise<unknown>) => void;

/** Sets one member of a group apart from the others: its failure undoes its own writes only. */
export type Savepoint = <T>(body: () => Promise<T>) => Promise<T>;

/** One open database: a connection that writes and one or more that read committed state. */
export interface Engine {
  readonly dialect: Dialect;
  readonly reader: Db;
  /**
   * Runs `body` on the connection that writes, in one transaction. Waits, within a limit, while another process
   * writes. Nothing was written when it throws, except that a lost connection leaves the commit unknown.
   */
  transaction<T>(body: (tx: Db, savepoint: Savepoint, later: Later) => Promise<T>): Promise<T>;
  /**
   * Tells other processes, at this transaction's commit, that something was written; nothing where they watch a file.
   */
  announce(db: Db): Promise<void>;
  /**
   * Changes with every commit; with `tables`, not with those of this process that wrote to none of them. Null where
   * asking would cost as much as reading.
   */
  version(tables?: readonly Table[]): string | null;
  /** Calls back after another process committed. */
  onForeignCommit(listener: () => void): () => void;
  /** How a copy of the whole database is made. Throws Failure where it cannot be made. */
  snapshot(): Promise<Snapshot>;
  /** Runs the statements of a migration file, outside any of the query builder's state. */
  script(db: Db, text: string): Promise<void>;
  /** One script that makes of an empty database what these migrations make; null without such a script. */
  wholeSchema(migrations: readonly Migration[]): string | null;
  /**
   * Inside the transaction that changed the schema: ends the connections of other processes, because their prepared
   * statements would fail from then on. They open new ones. Does nothing where the database prepares them again.
   */
  endOtherSessions(db: Db): Promise<void>;
  close(): Promise<void>;
}
