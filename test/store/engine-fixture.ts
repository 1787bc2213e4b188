/** The store on each database, and functions that make rows for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { after, before, beforeEach } from 'node:test';
import type { InitialState } from '../../src/domain/jobs/job.ts';
import { workspaceKey } from '../../src/domain/workspaces/workspace.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { A_COMMAND } from '../support/fixtures/approvals.ts';
import { TEST_RING, testKeyring } from '../support/seal.ts';
import { tagOf } from '../../src/store/engine/tags/tags.ts';
import type { Keyring } from '../../src/lib/seal.ts';
import { claimJobs, fenceOf, type Fence } from '../../src/store/jobs/claims.ts';
import { insertDaemon } from '../../src/store/maintenance/daemons.ts';
import type { Tx } from '../../src/store/engine/tx.ts';
import { insertJob, type NewJob } from '../../src/store/jobs/jobs.ts';
import type { LedgerEntry } from '../../src/store/engine/ledger.ts';
import type { NewToken } from '../../src/store/access/tokens.ts';
import type { DaemonRow, JobRow } from '../../src/store/schema/schema.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { freshDatabase, migratedDatabase } from '../support/postgres/postgres.ts';
import { placeStore } from '../support/store/template.ts';

export type Location = { readonly file: string } | { readonly url: string };

/** One empty database; every `open` is what one process would have. */
export interface TestDatabase {
  readonly location: Location;
  open(options?: { daemonId?: string; clock?: Clock; keyring?: () => Promise<Keyring> }): Promise<Store>;
  /** Closes what was opened, and removes it. */
  remove(): Promise<void>;
}

export interface EngineUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Whether another daemon's death is seen by its lease. */
  readonly hasLeases: boolean;
  /** With the whole schema; empty where no template is at hand. */
  create(): Promise<TestDatabase>;
  createEmpty(): Promise<TestDatabase>;
}

export const ENGINES: readonly EngineUnderTest[] = [
  { name: 'SQLite', hasLeases: false, create: () => createSqlite(true), createEmpty: () => createSqlite(false) },
  { name: 'PostgreSQL', hasLeases: true, create: () => createPostgres(true), createEmpty: () => createPostgres(false) },
];

/** A new temporary directory, and how to remove it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

async function createSqlite(isMigrated: boolean): Promise<TestDatabase> {
  const directory = temporaryDirectory();
  const file = join(directory.path, 'gatehouse.db');
  if (isMigrated) placeStore(file);
  return databaseAt({ file }, async () => directory.remove());
}

async function createPostgres(isMigrated: boolean): Promise<TestDatabase> {
  const fresh = await (isMigrated ? migratedDatabase() : freshDatabase());
  return databaseAt({ url: fresh.url }, () => fresh.drop());
}

function databaseAt(location: Location, drop: () => Promise<void>): TestDatabase {
  const opened: Store[] = [];
  return {
    location,
    async open({ daemonId = newId('dmn', Date.now()), clock = systemClock, keyring = testKeyring } = {}) {
      const store = await openStore({ location, clock, daemonId, keyring });
      opened.push(store);
      return store;
    },
    async remove() {
      await Promise.all(opened.map((store) => store.close()));
      await drop();
    },
  };
}

/** What migrations wrote and no test may lose. The cordon is lifted instead. */
const KEPT_TABLES = ['schema_migrations', 'cordon', 'ledger_keying'];

/** By dialect: every store of one has the same schema. */
const tablesByDialect = new Map<string, readonly string[]>();

/** The tables of the schema. By name, sessions come before the tokens that they belong to. */
async function tablesOf({ db, dialect }: Store): Promise<readonly string[]> {
  const known = tablesByDialect.get(dialect.name);
  if (known !== undefined) return known;
  const names = (await db.introspection.getTables()).map(({ name }) => name);
  const tables = names.filter((name) => !KEPT_TABLES.includes(name)).toSorted();
  tablesByDialect.set(dialect.name, tables);
  return tables;
}

/** Empties the tables between two tests, which is quicker than a database for each. */
export async function wipe(store: Store): Promise<void> {
  const tables = await tablesOf(store);
  await store.write(async ({ db }) => {
    for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(db);
    await db.updateTable('cordon').set({ cordoned_at: null, cordoned_by: null }).execute();
  });
}

export interface FreshStore {
  readonly database: TestDatabase;
  readonly store: Store;
}

/**
 * For the suite around the call: a database and a store on it, which are there from its first test on, are empty
 * before each one and are removed after the last.
 */
export function freshStore(engine: EngineUnderTest): FreshStore {
  const its: { database?: TestDatabase; store?: Store } = {};
  before(async () => {
    its.database = await engine.create();
    its.store = await its.database.open();
  });
  beforeEach(() => wipe(its.store!));
  after(() => its.database?.remove());
  return its as FreshStore;
}

export function makeJob(some: Partial<NewJob> = {}): NewJob {
  return {
    id: newId('job', Date.now()),
    kind: 'command',
    state: 'queued',
    runbook: 'command:true',
    source: null,
    trigger: 'api',
    workspace: null,
    concurrencyKey: null,
    privileged: false,
    createdAt: Date.now(),
    requestedBy: 'ana',
    owners: ['ana'],
    redriveOf: null,
    spec: (some.kind ?? 'command') === 'command' ? JSON.stringify(A_COMMAND) : '{}',
    timeoutMs: 60_000,
    ...some,
  };
}

/** Inserts one job in a separate write. Returns its id. */
export async function enqueue(store: Store, some: Partial<NewJob> = {}): Promise<string> {
  const job = makeJob(some);
  await store.write((tx) => insertJob(tx, job));
  return job.id;
}

/** Inserts one run of the workspace `net`; answers its id. */
export function enqueueRun(
  store: Store,
  kind: 'plan' | 'apply' | 'destroy' | 'drift',
  some: Partial<NewJob> = {},
): Promise<string> {
  const place = { kind, runbook: `${kind}:net`, workspace: 'net', concurrencyKey: workspaceKey('net') };
  return enqueue(store, { ...place, ...some });
}

/** Ids of new jobs of one key, in their order. */
export async function enqueueKeyed(store: Store, key: string, states: readonly InitialState[]): Promise<string[]> {
  const ids: string[] = [];
  for (const state of states) ids.push(await enqueue(store, { concurrencyKey: key, state }));
  return ids;
}

export function claim(store: Store, limit: number, daemonId = 'dmn_a'): Promise<JobRow[]> {
  return store.write((tx) => claimJobs(tx, daemonId, limit));
}

/** Claims exactly one job. Throws if no job can be claimed. */
export async function claimOne(store: Store, daemonId = 'dmn_a'): Promise<Fence> {
  const [row] = await claim(store, 1, daemonId);
  if (row === undefined) throw new Error('There is nothing to claim.');
  return fenceOf(row);
}

export async function stateOf(store: Store, id: string): Promise<string | undefined> {
  const row = await store.db.selectFrom('jobs').select('state').where('id', '=', id).executeTakeFirst();
  return row?.state;
}

export function entry(target: string): LedgerEntry {
  return {
    principal: 'ana',
    owner: 'ana',
    via: 'api',
    operation: 'command.run',
    target,
    detail: { inventory: 'localhost' },
  };
}

export function makeToken(some: Partial<NewToken> = {}): NewToken {
  return {
    id: newId('tok', Date.now()),
    name: 'ci',
    owner: 'ana',
    scope: 'operator',
    salt: Buffer.alloc(16, 1),
    hash: Buffer.alloc(32, 2),
    version: 1,
    created_at: Date.now(),
    expires_at: null,
    revoked_at: null,
    agent: null,
    ...some,
  };
}

export async function addDaemon(store: Store, id: string, leaseUntil: number | null = null): Promise<DaemonRow> {
  const row = {
    id,
    host: 'here',
    boot_id: 'boot',
    pid: 1,
    version: '0',
    started_at: Date.now(),
    lease_until: leaseUntil,
    stopped_at: null,
    ingress_url: null,
    notify_targets: null,
    renewed_at: null,
  };
  await store.write((tx) => insertDaemon(tx, row));
  return { ...row, ...tagOf(TEST_RING, 'daemons', row), node: null, ledger_key_id: TEST_RING.activeId, tags_orders: 1 };
}

/** The database's own time in milliseconds, where leases are measured with it. */
export function leaseClock(store: Store): Promise<number> {
  return store.write((tx: Tx) => tx.dialect.leaseClock(tx.db));
}
