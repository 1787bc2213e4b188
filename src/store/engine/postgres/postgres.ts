import { type RawBuilder, sql } from 'kysely';
import type { Client } from 'pg';
import { eitherReady, isOrdered } from '../ready-jobs.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Clock } from '../../../lib/clock.ts';
import { randomBytes } from '../../../lib/random.ts';
import type { Dialect, Engine, Later, Savepoint, StoreFault } from '../dialect.ts';
import { clientDb, connectionsDb, send, types } from './client.ts';
import { Connections } from './connections.ts';
import { ConnectFault, Dialer } from './dial.ts';
import { dumpSnapshot } from './dump.ts';
import { listen, type Listening } from './listen.ts';
import { prepared } from '../prepared.ts';
import { POSTGRES_ROOM } from './room.ts';
import { refuseUnfit } from './unfit.ts';
import type { Db } from '../../schema/schema.ts';
import { postgresTriggers } from './triggers.ts';

/** Connections that read. One more writes, one listens. */
const READERS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a connection for reading stays open without use. */
const IDLE_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** How long a write waits for the locks of other daemons before it is refused as unavailable. */
const LOCK_TIMEOUT_MS = 5_000;
/** A daemon that was stopped in the middle of a write (a paused machine) keeps its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** With more keys than this in one transaction it is given up: the write gate then runs its writes one by one. */
const KEYS_MAX = 64;
const CHANNEL = 'gatehouse';

const FAULTS: Readonly<Record<string, StoreFault>> = {
  '23505': 'unique',
  '53100': 'full',
  // An input or output error of its disk.
  '58030': 'lost',
  '42P01': 'missing',
  '25P02': 'aborted',
  // Serialisation failure, deadlock, lock time-out, statement time-out: undone whole, may be tried again.
  '40001': 'busy',
  '40P01': 'busy',
  '55P03': 'busy',
  '57014': 'busy',
  // Read-only: this server became a standby. Ended while idle in a transaction.
  '25006': 'lost',
  '25P03': 'lost',
};
/**
 * Class 08: connection exceptions; 57P: the server is shutting down; 53: out of connections; E…: the socket's codes.
 */
const LOST_CODE = /^(08|57P|53|E[A-Z]+$)/;
/** What the driver says, without a code, about a connection that is gone. */
const LOST_TEXT = /^(Connection terminated|Client (has encountered|was closed))/;

/** A key is held by the transaction of another daemon. */
class KeyHeld extends Error {
  readonly code = '55P03';
}

const lockAndWait = prepared<{ key: string }, unknown>((db, value) =>
  db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${value('key')}, 0))`.as('held')),
);
const tryLock = prepared<{ key: string }, { held: boolean }>((db, value) =>
  db.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${value('key')}, 0))`.as('held')),
);
const tryShare = prepared<{ key: string }, { held: boolean }>((db, value) =>
  db.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock_shared(hashtextextended(${value('key')}, 0))`.as('held')),
);
const keyOf = prepared<{ jobId: string }, { concurrency_key: string | null }>((db, value) =>
  db.selectFrom('jobs').select('concurrency_key').where('id', '=', value('jobId')),
);
const notify = prepared<{ self: string }, unknown>((db, value) =>
  db.selectNoFrom(sql`pg_notify(${CHANNEL}, ${value('self')})`.as('sent')),
);

/** The keys of the transaction under way on a connection: those it holds, and the one that it could not have. */
interface Keys {
  readonly held: Set<string>;
  missed: string | null;
}

const KEYS = new WeakMap<Db, Keys>();

/**
 * Never waits: a transaction that waits for a key while it has locked rows or other keys can cause a deadlock, which
 * the server finds only after a second. A transaction that cannot lock a key is rolled back and begins again: it first
 * locks all keys that it needs, in one order for all transactions, and waits only there.
 */
async function lockKey(db: Db, key: string): Promise<void> {
  const keys = KEYS.get(db);
  if (keys === undefined) throw new Error('keys are locked only inside a write transaction');
  if (keys.held.has(key)) return;
  const { rows } = await tryLock(db, { key });
  if (rows[0]?.held !== true) {
    keys.missed = key;
    throw new KeyHeld('another daemon holds the key');
  }
  keys.held.add(key);
}

async function databaseNow(db: Db): Promise<number> {
  const { rows } = await sql<{
    now: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
  return rows[0]?.now ?? Number.NaN;
}

export const POSTGRES: Dialect = {
  name: 'postgres',
  liveness: 'lease',
  ledgerChain: (daemonId) => daemonId,
  readyJobs(daemonId, limit, purpose) {
    const held = purpose === 'claim' ? sql`for update skip locked` : sql``;
    const ready = (node: RawBuilder<unknown>): RawBuilder<unknown> =>
      sql`(select id from jobs where state = 'queued' and blocked = 0 and ${node} and ${isOrdered}
        order by id limit ${limit} ${held})`;
    return eitherReady(ready, daemonId, limit);
  },
  indexedBy: () => sql``,
  holdRows: (query) => query.forNoKeyUpdate(),
  lockKey,
  shareKey: async (db, key) => (await tryShare(db, { key })).rows[0]?.held === true,
  async lockKeyOf(db, jobId) {
    const [row] = (await keyOf(db, { jobId })).rows;
    if (row?.concurrency_key !== undefined && row.concurrency_key !== null) await lockKey(db, row.concurrency_key);
  },
  leaseClock: databaseNow,
  clock: databaseNow,
  snapshotFormat: 'postgres',
  async integrity(db) {
    await sql`select count(*) from schema_migrations`.execute(db);
    return [];
  },
  triggers: postgresTriggers,
  ...POSTGRES_ROOM,
  faultOf(error) {
    if (error instanceof ConnectFault) return 'lost';
    if (!(error instanceof Error)) return 'other';
    const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
    if (code === '') return LOST_TEXT.test(error.message) ? 'lost' : 'other';
    return FAULTS[code] ?? (LOST_CODE.test(code) ? 'lost' : 'other');
  },
};

function explainRead(error: unknown): unknown {
  const fault = POSTGRES.faultOf(error);
  if (fault === 'lost') return new Failure('unavailable', 'The store cannot be reached.');
  return fault === 'busy' ? new Failure('unavailable', 'The store took too long to answer.') : error;
}

/**
 * Opens connections to the database of a URL, which several daemons may share. Refuses a server that can't write, and a
 * store that a restore has left unfinished unless `isRestore`.
 */
export async function openPostgres(url: string, clock: Clock, isRestore = false): Promise<Engine> {
  const dialer = new Dialer(url, CONNECT_TIMEOUT_MS);
  const session = { types, statement_timeout: STATEMENT_TIMEOUT_MS };
  const waitMs = CONNECT_TIMEOUT_MS;
  const readers = new Connections(dialer, clock, { max: READERS, idleMs: IDLE_MS, waitMs, session });
  // Kept open, since a new connection costs the next write some 15 ms.
  const writers = new Connections(dialer, clock, {
    max: 1,
    waitMs,
    session: {
      ...session,
      pipeline: true,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  });
  const reader = connectionsDb(POSTGRES, readers, explainRead);
  const close = async (): Promise<void> => void (await Promise.all([readers.end(), writers.end()]));
  await refuseUnfit(readers, isRestore).catch((error: unknown) => close().then(() => Promise.reject(error)));
  const listeners = new Set<() => void>();
  // Notifications come back to the sender too: this tells them apart.
  const self = randomBytes(12).toString('hex');
  let listening: Listening | null = null;
  return {
    dialect: POSTGRES,
    reader,
    transaction: (body) => transact(writers, body),
    announce: async (db) => void (await notify(db, { self })),
    version: () => null,
    onForeignCommit(listener) {
      listeners.add(listener);
      const changed = (): void => listeners.forEach((each) => each());
      listening ??= listen({ dialer, channel: CHANNEL, self, clock, changed });
      return () => void listeners.delete(listener);
    },
    snapshot: () => dumpSnapshot(dialer),
    wholeSchema: () => null,
    // An index on a ledger of many years takes longer than any other statement may.
    script: async (db, text) => void (await sql.raw(`set local statement_timeout = 0;\n${text}`).execute(db)),
    endOtherSessions: (db) => endOtherSessions(db, [...readers.open].map(processIdOf)),
    async close() {
      await listening?.stop();
      await close();
    },
  };
}

/** The server's number of a connection. The driver has it and its types do not. */
function processIdOf(client: Client): number {
  return (client as Client & { readonly processID: number }).processID;
}

/** Tools of PostgreSQL under the same user keep no statements of ours. */
const TOOLS = ['psql', 'pg_dump', 'pg_restore'];

/**
 * A statement that reads whole rows fails for good on a connection that prepared it before a column was added. Another
 * user's sessions would be refused, and are no daemons of this store.
 */
async function endOtherSessions(db: Db, own: readonly number[]): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and backend_type = 'client backend'
    and pid <> pg_backend_pid() and pid <> all(${own}::int[])
    and not application_name = any(${TOOLS}::text[])`.execute(db);
}

/** Each connection that writes has its own query builder. */
const LANES = new WeakMap<Client, Db>();

function laneOf(client: Client): Db {
  let db = LANES.get(client);
  if (db === undefined) {
    db = clientDb(POSTGRES, client);
    LANES.set(client, db);
  }
  return db;
}

type Body<T> = (tx: Db, savepoint: Savepoint, later: Later) => Promise<T>;

/** Runs `body` in one transaction, again with all keys taken beforehand when it could not have one in the middle. */
async function transact<T>(writers: Connections, body: Body<T>): Promise<T> {
  const { client, release } = await writers.take();
  let broken = false;
  try {
    const db = laneOf(client);
    for (let wanted: readonly string[] = []; ;) {
      const keys: Keys = { held: new Set(), missed: null };
      KEYS.set(db, keys);
      try {
        return await attempt(client, db, wanted, body);
      } catch (error) {
        broken = POSTGRES.faultOf(error) === 'lost';
        await send(client, 'rollback').catch(() => (broken = true));
        if (broken || keys.missed === null || wanted.length >= KEYS_MAX) throw error;
        wanted = [...new Set([...wanted, ...keys.held, keys.missed])].toSorted();
      }
    }
  } finally {
    release(broken);
  }
}

/**
 * The connection is pipelined: `begin`, the statements without an awaited result and `commit` are sent without waiting
 * for each answer, so that a group costs the round trips of its reads, and two.
 */
async function attempt<T>(client: Client, db: Db, keys: readonly string[], body: Body<T>): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const later: Later = (statement) => {
    statement.catch(() => undefined);
    sent.push(statement);
  };
  later(send(client, 'begin'));
  for (const key of keys) {
    await lockAndWait(db, { key });
    KEYS.get(db)?.held.add(key);
  }
  const value = await body(db, (member) => withSavepoint(client, db, member), later);
  const { command } = await send(client, 'commit');
  // What was sent before has been answered before; the first that failed says why the server rolled back.
  await Promise.all(sent);
  if (command !== 'COMMIT') throw new Error('the server rolled the transaction back');
  return value;
}

async function withSavepoint<T>(client: Client, db: Db, member: () => Promise<T>): Promise<T> {
  const held = [...(KEYS.get(db)?.held ?? [])];
  await send(client, 'savepoint member');
  try {
    const value = await member();
    await send(client, 'release savepoint member');
    return value;
  } catch (error) {
    await send(client, 'rollback to savepoint member');
    await send(client, 'release savepoint member');
    // The locks of the member went with its writes.
    const keys = KEYS.get(db);
    for (const key of keys?.held ?? []) if (!held.includes(key)) keys?.held.delete(key);
    throw error;
  }
}
