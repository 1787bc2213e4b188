import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { sql } from 'kysely';
import { eitherReady, isOrdered } from '../ready-jobs.ts';
import { Failure } from '../../../domain/failure.ts';
import { holdProcess, pause, type Clock } from '../../../lib/clock.ts';
import { nextTurn } from '../../../lib/flow/cooperative.ts';
import { eventBatch } from '../../../lib/flow/event-batch.ts';
import type { Dialect, Engine, Later, Savepoint, StoreFault } from '../dialect.ts';
import type { Db } from '../../schema/schema.ts';
import { checkDurability, checkFile } from './check.ts';
import { copyDatabase } from './copy.ts';
import { ForeignCommits } from './foreign.ts';
import { SQLITE_ROOM } from './room.ts';
import { numberOf, SqliteConnection, sqliteDb } from './driver.ts';
import { OwnCommits } from './own-commits.ts';
import { readWholeSchema } from './whole-schema.ts';

/** How long a write waits for the writers of other processes before it is refused as unavailable. */
const BUSY_LIMIT_MS = 5_000;
/** Between two tries to turn on the log. */
const OPEN_RETRY_MS = 5;
/** Turns of the event loop in which a write asks again at once: most commits of others are over by then. */
const EAGER_TURNS = 20;
/** A commit with at least this many pages in the log writes them into the database: what SQLite does by itself. */
const CHECKPOINT_PAGES = 1_000;
/** The log is cut back to this size when a checkpoint empties it. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

const FAULTS: Readonly<Record<number, StoreFault>> = { 5: 'busy', 6: 'busy', 13: 'full', 10: 'lost', 14: 'lost' };
const CONSTRAINT_UNIQUE = [2067, 1555];

const dialect: Dialect = {
  name: 'sqlite',
  liveness: 'lock',
  ledgerChain: () => 'main',
  // Left alone, the planner takes the index by state and walks over all blocked jobs (100,000 of them: 40 ms a claim).
  readyJobs: (daemonId, limit) =>
    eitherReady(
      (node) =>
        sql`(select id from jobs indexed by jobs_ready where state = 'queued' and blocked = 0 and ${node}
          and ${isOrdered} order by id limit ${limit})`,
      daemonId,
      limit,
    ),
  indexedBy: (index) => sql`indexed by ${sql.ref(index)}`,
  // A write transaction is the only one: no other one holds a lock or changes rows.
  holdRows: (query) => query,
  lockKey: () => Promise.resolve(),
  shareKey: () => Promise.resolve(true),
  lockKeyOf: () => Promise.resolve(),
  leaseClock: () => Promise.reject(new Error('there are no leases on SQLite')),
  clock: (_db, processNow) => Promise.resolve(processNow),
  snapshotFormat: 'sqlite',
  integrity: () => Promise.reject(new Error('replaced when the engine opens')),
  async triggers(db) {
    const { rows } = await sql<{ name: string }>`
      select name || ' on ' || tbl_name as name from sqlite_schema where type = 'trigger'`.execute(db);
    return rows.map(({ name }) => name);
  },
  ...SQLITE_ROOM,
  faultOf(error) {
    if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return 'other';
    if (CONSTRAINT_UNIQUE.includes(error.errcode)) return 'unique';
    if (error.errcode === 1 && error.message.startsWith('no such table')) return 'missing';
    return FAULTS[error.errcode & 0xff] ?? 'other';
  },
};

/** Opens (and creates, mode 0600) the database file. Several processes may have it open. */
export async function openSqlite(file: string, clock: Clock): Promise<Engine> {
  createPrivate(file);
  const writer = new SqliteConnection(file, { readOnly: false });
  // A second daemon may be in the middle of a checkpoint or of turning on the log: opening waits for it.
  writer.raw.exec(`pragma busy_timeout = ${BUSY_LIMIT_MS}`);
  // Before the first page is written. A database that has pages keeps what it has, and would wait for those who write.
  if (isEmpty(writer)) writer.raw.exec('pragma auto_vacuum = incremental');
  await useLog(writer, clock);
  writer.raw.exec('pragma synchronous = full');
  writer.raw.exec('pragma foreign_keys = on');
  writer.raw.exec(`pragma journal_size_limit = ${WAL_LIMIT_BYTES}`);
  // A temporary file could not be opened where the process has run out of descriptors.
  writer.raw.exec('pragma temp_store = memory');
  writer.raw.exec('pragma busy_timeout = 0');
  protect(file);
  const reader = new SqliteConnection(file, { readOnly: true });
  reader.raw.exec(`pragma busy_timeout = ${BUSY_LIMIT_MS}`);
  reader.raw.exec('pragma query_only = on');
  const facts: Dialect = {
    ...dialect,
    integrity: async () => [...checkDurability(writer), ...(await checkFile(file))],
  };
  const writerDb = sqliteDb(facts, writer);
  const readerDb = sqliteDb(facts, reader);
  const foreign = new ForeignCommits(file, writer, clock);
  const versionElsewhere = dataVersion(writer);
  const ownCommits = new OwnCommits();

  return {
    dialect: facts,
    reader: readerDb,
    transaction: (body) =>
      immediate(writer, writerDb, clock, body).finally(() => {
        ownCommits.ended(writer.written);
        writer.written.clear();
        foreign.committed();
      }),
    announce: () => Promise.resolve(),
    version: (tables) => `${versionElsewhere()} ${ownCommits.count(tables)}`,
    onForeignCommit: (listener) => foreign.listen(listener),
    snapshot: () =>
      Promise.resolve({
        by: 'store',
        copyTo: (to, signal) => withoutCheckpoints(writer, () => copyDatabase(file, to, signal)),
      }),
    script: (_db, text) => Promise.resolve(writer.raw.exec(text)),
    wholeSchema: readWholeSchema,
    endOtherSessions: () => Promise.resolve(),
    async close() {
      foreign.close();
      reader.close();
      writer.close();
    },
  };
}

function isEmpty({ raw }: SqliteConnection): boolean {
  return numberOf(raw, 'pragma page_count')() === 0;
}

/**
 * The counter of the commits that other connections have made. Asked once for the events that the event loop took up
 * together: all of them had arrived before. A client that asks this process after another one has answered comes later.
 */
function dataVersion({ raw }: SqliteConnection): () => string {
  const ask = numberOf(raw, 'pragma data_version');
  let version = '';
  let askedIn: number | null = null;
  return () => {
    const batch = eventBatch();
    if (batch !== askedIn) version = String(ask());
    askedIn = batch;
    return version;
  };
}

/**
 * A copy keeps the log from being emptied, so the first commit after it would write all of it into the database before
 * it is answered: 190 to 290 ms for a copy of 400 MB. The thread that copies does it instead, beside the commits.
 */
async function withoutCheckpoints<T>({ raw }: SqliteConnection, copy: () => Promise<T>): Promise<T> {
  raw.exec('pragma wal_autocheckpoint = 0');
  try {
    return await copy();
  } finally {
    raw.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  }
}

/**
 * Turns on the write-ahead log. Of processes that do so at once SQLite refuses some at once, whatever their busy
 * time-out is, because waiting could be for one another: asking again is left to the caller. The process is held: the
 * clock's timers keep none alive, and a command that waits here would end without a word.
 */
async function useLog(connection: SqliteConnection, clock: Clock): Promise<void> {
  const until = clock.monotonic() + BUSY_LIMIT_MS;
  const release = holdProcess();
  try {
    for (;;) {
      try {
        connection.raw.exec('pragma journal_mode = wal');
        return;
      } catch (error) {
        if (dialect.faultOf(error) !== 'busy' || clock.monotonic() >= until) throw error;
        await pause(clock, OPEN_RETRY_MS);
      }
    }
  } finally {
    release();
  }
}

async function immediate<T>(
  connection: SqliteConnection,
  db: Db,
  clock: Clock,
  body: (tx: Db, savepoint: Savepoint, later: Later) => Promise<T>,
): Promise<T> {
  await begin(connection, clock);
  const sent: Promise<unknown>[] = [];
  const later: Later = (statement) => {
    statement.catch(() => undefined);
    sent.push(statement);
  };
  try {
    const value = await body(db, (member) => withSavepoint(connection, member), later);
    await Promise.all(sent);
    connection.run('commit', []);
    return value;
  } catch (error) {
    // A commit that fails (disk full, I/O) may leave the transaction open or have rolled it back itself.
    if (connection.raw.isTransaction) connection.run('rollback', []);
    throw error;
  }
}

/**
 * Waiting for another writer must not stop the event loop, so SQLite's own busy handler stays off here. The process is
 * held: a command that only waits for its write would otherwise end without having written.
 */
async function begin(connection: SqliteConnection, clock: Clock): Promise<void> {
  for (let turn = 0; turn < EAGER_TURNS; turn += 1) {
    if (tryBegin(connection)) return;
    await nextTurn();
  }
  const deadline = clock.monotonic() + BUSY_LIMIT_MS;
  const release = holdProcess();
  try {
    while (!tryBegin(connection)) {
      if (clock.monotonic() >= deadline) {
        throw new Failure('unavailable', 'The store was busy for 5s with the writes of other processes.');
      }
      await pause(clock, 1);
    }
  } finally {
    release();
  }
}

/** False while another process writes. */
function tryBegin(connection: SqliteConnection): boolean {
  try {
    connection.run('begin immediate', []);
    return true;
  } catch (error) {
    if (dialect.faultOf(error) !== 'busy') throw error;
    return false;
  }
}

async function withSavepoint<T>(connection: SqliteConnection, member: () => Promise<T>): Promise<T> {
  connection.run('savepoint member', []);
  try {
    const value = await member();
    connection.run('release member', []);
    return value;
  } catch (error) {
    // Some faults (disk full) roll the whole transaction back at once; then there is no savepoint left.
    if (connection.raw.isTransaction) {
      connection.run('rollback to member', []);
      connection.run('release member', []);
    }
    throw error;
  }
}

/**
 * Never opened here when it is there already: closing any descriptor of a file drops all locks that this process has
 * on it, those of an open database among them.
 */
function createPrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

function protect(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600);
}
