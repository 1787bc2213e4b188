import pg from 'pg';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { randomBytes } from '../lib/random.ts';
import type { Dialect, Engine, Savepoint, StoreFault } from './dialect.ts';
import type { Db, Schema } from './schema.ts';

/** Connections that read. One more writes, one listens. */
const READERS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const CHANNEL = 'gatehouse';

/** A transaction that met a deadlock or a serialisation failure was rolled back whole: it may run again. */
const RETRIES = 3;
const RETRYABLE = new Set(['40001', '40P01']);

// int8 arrives as text by default; no count or millisecond of ours leaves the range of exact numbers.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

const dialect: Dialect = {
  name: 'postgres',
  liveness: 'lease',
  ledgerChain: (daemonId) => daemonId,
  skipLocked: (query) => query.forUpdate().skipLocked(),
  async lockKey(db, key) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(db);
  },
  async leaseClock(db) {
    const { rows } = await sql<{ now: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
    return rows[0]?.now ?? Number.NaN;
  },
  async integrity(db) {
    await sql`select count(*) from schema_migrations`.execute(db);
    return [];
  },
  faultOf(error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    return faultOfCode(code);
  },
};

function faultOfCode(code: string): StoreFault {
  if (code === '23505') return 'unique';
  if (code === '53100') return 'full';
  if (RETRYABLE.has(code) || code === '55P03') return 'busy';
  // Class 08: connection exceptions; 57P: the server is shutting down; the E… codes come from the socket.
  if (/^(08|57P|53|E[A-Z]+)/.test(code)) return 'lost';
  return 'other';
}

/** Opens pools on a `postgres://` URL that several daemons may share. Refuses a server that can't write. */
export async function openPostgres(url: string): Promise<Engine> {
  const common = { connectionString: url, types, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true };
  const readers = new pg.Pool({ ...common, max: READERS, statement_timeout: STATEMENT_TIMEOUT_MS });
  const writers = new pg.Pool({ ...common, max: 1, statement_timeout: STATEMENT_TIMEOUT_MS, pipeline: true });
  // An idle connection that the server ends is replaced by the pool; unheard, the event would end the process.
  readers.on('error', () => undefined);
  writers.on('error', () => undefined);
  const reader = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: readers }) });
  const writer = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: writers }) });
  const listeners = new Set<() => void>();
  // Notifications come back to the sender too: this tells them apart.
  const self = randomBytes(12).toString('hex');
  let listening: Listening | null = null;

  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(reader);
  if (rows[0]?.standby === true) {
    await reader.destroy();
    await writer.destroy();
    throw new Error('The PostgreSQL server is a standby that can not write: name the primary.');
  }
  return {
    dialect,
    reader,
    transaction: (body) => withRetries(writer, body),
    async announce(db) {
      await sql`select pg_notify(${CHANNEL}, ${self})`.execute(db);
    },
    version: () => null,
    onForeignCommit(listener) {
      listeners.add(listener);
      listening ??= listen(url, self, () => listeners.forEach((each) => each()));
      return () => listeners.delete(listener);
    },
    async script(db, text) {
      await sql.raw(text).execute(db);
    },
    async close() {
      await listening?.stop();
      await reader.destroy();
      await writer.destroy();
    },
  };
}

async function withRetries<T>(db: Db, body: (tx: Db, savepoint: Savepoint) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute((tx) => body(tx, (member) => withSavepoint(tx, member)));
    } catch (error) {
      if (attempt >= RETRIES || dialect.faultOf(error) !== 'busy') throw error;
    }
  }
}

/**
 * The connection is pipelined: the savepoint, the member's statements and the release are sent one behind the
 * other without waiting for each answer, so a member costs the round trips of its own statements only.
 */
async function withSavepoint<T>(tx: Db, member: () => Promise<T>): Promise<T> {
  const opened = sql`savepoint member`.execute(tx);
  opened.catch(() => undefined);
  try {
    const value = await member();
    await Promise.all([opened, sql`release savepoint member`.execute(tx)]);
    return value;
  } catch (error) {
    await sql`rollback to savepoint member`.execute(tx);
    await sql`release savepoint member`.execute(tx);
    throw error;
  }
}

interface Listening {
  stop(): Promise<void>;
}

/** A connection that only listens. When it is lost, everything may have changed: call back, then connect again. */
function listen(url: string, self: string, changed: () => void): Listening {
  let stopped = false;
  let client: pg.Client | null = null;
  const connect = async (): Promise<void> => {
    while (!stopped) {
      const next = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true });
      try {
        await next.connect();
        await next.query(`listen ${CHANNEL}`);
      } catch {
        await next.end().catch(() => undefined);
        return;
      }
      client = next;
      next.on('notification', (message) => {
        if (message.payload !== self) changed();
      });
      await new Promise<void>((resolve) => next.once('end', resolve).once('error', () => resolve()));
      changed();
    }
  };
  void connect();
  return {
    async stop() {
      stopped = true;
      await client?.end().catch(() => undefined);
    },
  };
}
