import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { openStore } from '../../../src/store/store.ts';
import {
  type FreshDatabase,
  freshDatabase,
  migratedDatabase,
  POSTGRES_TEMPLATE_VARIABLE,
} from '../../support/postgres/postgres.ts';
import { testKeyring } from '../../support/seal.ts';
import type { Rows } from '../rules/rules.ts';
import type { World } from '../world/world.ts';
import { Eye } from './postgres/eye.ts';
import { Gate } from './postgres/gate.ts';
import { Server } from './postgres/server.ts';
import { hexOfBytes, machine, shown, type Stores, type WorldStore } from './store.ts';
import { makeSchema } from './template.ts';

/** No limit of real time: the world ends a wait. What is answered need not be on the disk. */
const SESSION = '-c deadlock_timeout=3600s -c synchronous_commit=off';

/** What rules use of SQLite, and tables whose rows lie where they were put. */
const PREPARED = [
  `create function json_extract(document text, path text) returns text language sql immutable
    as $$ select document::jsonb #>> string_to_array(substr(path, 3), '.') $$`,
  `do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' loop
      execute format('alter table %I set (autovacuum_enabled = off)', name);
    end loop; end $$`,
];

/** How wrong the clock of a machine may be, in milliseconds, for all of its time: the service bears a minute. */
const APART_MS = [0, 0, -1_500, 1_500, -12_000, 12_000, -29_000, 29_000];

const TABLES = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;

/** A real server with a database for each world, and daemons that have a machine each. */
export async function postgresStores(home: string): Promise<Stores> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const eye = new Eye();
  const template = await freshDatabase();
  await makeSchema({ url: template.url });
  for (const sql of PREPARED) eye.rows(template.url, sql);
  eye.leave(template.url);
  process.env[POSTGRES_TEMPLATE_VARIABLE] = new URL(template.url).pathname.slice(1);
  return {
    open: async (world) =>
      openDatabase(world, { eye, dir: join(home, String(world.seed)), made: await migratedDatabase() }),
    async close() {
      await eye.close();
      await template.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Made {
  readonly eye: Eye;
  /** For the data directories of the daemons. */
  readonly dir: string;
  readonly made: FreshDatabase;
}

function openDatabase(world: World, { eye, dir, made }: Made): WorldStore {
  rmSync(dir, { recursive: true, force: true });
  const { url } = made;
  const here = machine('server');
  const gate = Gate.open(world, new Server(eye, { url: urlOf(url, 'postgres'), world, machine: here }));
  const rows: Rows = (sql, ...parameters) => shown(world, eye.rows(url, numbered(sql), parameters));
  const databaseUrl = `${url}?options=${encodeURIComponent(SESSION)}`;
  return {
    folder: join(dir, 'people'),
    rows,
    hasLeases: true,
    machine: here,
    files: null,
    machineOf: (index) => machine(`m${index + 1}`, world.chance.of('clocks').pick(APART_MS)),
    settingsOf({ name }) {
      const dataDir = join(dir, name);
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      return { flags: { 'data-dir': dataDir, 'seal-key-file': join(dir, 'seal.key') }, databaseUrl };
    },
    noteRows() {
      for (const { name } of rows(TABLES))
        // The place of a row in its table is the server's.
        for (const row of rows(`select * from "${String(name)}"`)
          .map((each) => JSON.stringify(each, hexOfBytes))
          .toSorted())
          world.note(row);
    },
    async reader() {
      const store = await openStore({
        location: { url },
        clock: systemClock,
        daemonId: 'dmn_reader',
        keyring: testKeyring,
        schema: 'migrate',
      });
      return { db: store.db, close: () => store.close() };
    },
    async close() {
      await gate.settle();
      eye.leave(url);
      await made.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function urlOf(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

/** With the marks of parameters that PostgreSQL has. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${(count += 1)}`);
}
