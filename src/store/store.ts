import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { recent } from '../lib/caches/recent.ts';
import { PROGRAM_ROOT } from '../lib/files/program-files.ts';
import type { Keyring } from '../lib/seal.ts';
import type { Dialect, Engine } from './engine/dialect.ts';
import { WriteGate } from './engine/gate.ts';
import type { Snapshot } from './engine/snapshot.ts';
import { Adoption, hasAdopted } from './engine/tags/adoption.ts';
import type { TagContext } from './engine/tags/tags.ts';
import type { Work, WriteOptions } from './engine/tx.ts';
import { migrate, type SchemaAccess } from './engine/migrate.ts';
import { type Migration, readMigrations } from './engine/migration.ts';
import type { Db, Table } from './schema/schema.ts';

/**
 * How long this process may use the old key after a rotation, in milliseconds: to read the key file costs as much as a
 * small write.
 */
const RING_MS = 1_000;

/** The migrations that this build knows for a kind of database, oldest first. */
export function knownMigrations(database: Dialect['name']): readonly Migration[] {
  return readMigrations(join(PROGRAM_ROOT, 'migrations', database));
}

/** The number of the newest of them. */
export function newestSchema(database: Dialect['name']): number {
  return knownMigrations(database).at(-1)?.number ?? 0;
}

/** The store of one process: committed state to read, and one gate for writes. */
export interface Store extends TagContext {
  readonly dialect: Dialect;
  /** Reads committed state only: an open write of this process is not seen. */
  readonly db: Db;
  /** The ledger chain that this process appends to. */
  readonly chain: string;
  /** The migrations that opening it applied. */
  readonly migrated: readonly Pick<Migration, 'number' | 'name'>[];
  /** Runs `work` in a transaction that it may share with others; resolves once that is durable. */
  write<T>(work: Work<T>, options?: WriteOptions): Promise<T>;
  /**
   * Changes with every commit; with `tables`, not with those of this process that wrote to none of them. Null where the
   * database has no cheap counter.
   */
  version(tables?: readonly Table[]): string | null;
  /** Calls back after another process committed; the result stops that. */
  onForeignCommit(listener: () => void): () => void;
  /** How a copy of the whole database is made. Throws Failure where it cannot be made. */
  snapshot(): Promise<Snapshot>;
  /** Refuses new writes, finishes those that wait, and closes. May be called twice. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The SQLite file, or a `postgres://` URL. */
  readonly location: { readonly file: string } | { readonly url: string };
  readonly clock: Clock;
  /** Names the ledger chain of this process where each daemon has its own. */
  readonly daemonId: string;
  /** The keys that authenticate what is written. Asked before writes only. */
  readonly keyring: () => Promise<Keyring>;
  /**
   * Whether an older schema is brought up to date; without it, it is refused. A store without a schema gets one in any
   * case.
   */
  readonly schema?: SchemaAccess;
  /** Whether it is opened to finish a restore; else a store that a restore has left unfinished is refused. */
  readonly isRestore?: boolean;
  /** Whether this machine knows that the orders of earlier builds have their tags, whatever the database says. */
  readonly wasAdopted?: () => Promise<boolean>;
}

/**
 * Opens the store. Throws SchemaMismatch for a store of a newer build, and for one of an older build unless `schema` is
 * `migrate`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await openEngine(options);
  let migrated: readonly Migration[] = [];
  try {
    migrated = await migrate(
      engine,
      knownMigrations(engine.dialect.name),
      options.clock.now(),
      options.schema ?? 'create',
    );
  } catch (error) {
    await engine.close();
    throw error;
  }
  const chain = engine.dialect.ledgerChain(options.daemonId);
  const adoption = new Adoption(
    async () => (await options.wasAdopted?.()) === true || (await hasAdopted(engine.reader)),
  );
  const ring = recent(options.clock, RING_MS, options.keyring);
  const tags: TagContext = { adoption, ringWith: (keyId) => ring((held) => keyId === null || held.has(keyId)) };
  const gate = new WriteGate({ engine, clock: options.clock, chain, ring, tags });
  let closing: Promise<void> | null = null;
  return {
    dialect: engine.dialect,
    db: engine.reader,
    chain,
    ...tags,
    migrated,
    write: (work, options) => gate.write(work, options),
    version: (tables) => engine.version(tables),
    onForeignCommit: (listener) => engine.onForeignCommit(listener),
    snapshot: () => engine.snapshot(),
    close: () => (closing ??= closeInOrder(gate, engine)),
  };
}

async function closeInOrder(gate: WriteGate, engine: Engine): Promise<void> {
  await gate.close();
  await engine.close();
}

// Each driver is loaded only where it is used: together they cost a command line some 60 ms.
async function openEngine(options: StoreOptions): Promise<Engine> {
  if ('url' in options.location) {
    const { openPostgres } = await import('./engine/postgres/postgres.ts');
    return openPostgres(options.location.url, options.clock, options.isRestore);
  }
  const { openSqlite } = await import('./engine/sqlite/sqlite.ts');
  return openSqlite(options.location.file, options.clock);
}
