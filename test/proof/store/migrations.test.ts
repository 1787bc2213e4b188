/** Migrations on each database. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { claimJobs } from '../../../src/store/jobs/claims.ts';
import type { Engine } from '../../../src/store/engine/dialect.ts';
import { findJob } from '../../../src/store/jobs/jobs.ts';
import { appliedMigrations, migrate, SchemaMismatch } from '../../../src/store/engine/migrate.ts';
import { readMigrations, type Migration } from '../../../src/store/engine/migration.ts';
import { openPostgres } from '../../../src/store/engine/postgres/postgres.ts';
import { openSqlite } from '../../../src/store/engine/sqlite/sqlite.ts';
import { statementsOf } from '../../store/child.ts';
import { runChild, startChild } from '../../store/children.ts';
import {
  enqueue,
  ENGINES,
  type EngineUnderTest,
  type Location,
  type TestDatabase,
} from '../../store/engine-fixture.ts';

const FOLDERS = { SQLite: 'sqlite', PostgreSQL: 'postgres' };

/** Children at a time, each with a separate database. */
const KILLERS = 2;
const NEWEST = 2;

/** Behind all that there are; numbers may have gaps between them. */
const nextNumber = (engine: EngineUnderTest): number => (migrationsOf(engine).at(-1)?.number ?? 0) + 1;
const migrationsOf = (engine: EngineUnderTest): readonly Migration[] =>
  readMigrations(join(import.meta.dirname, '..', '..', '..', 'migrations', FOLDERS[engine.name]));

/** A kill costs a second, and an old migration was killed at each statement when it was new: every fourth is enough. */
const OLD_STEP = 4;

/**
 * After how many statements of all migrations a child is killed: of the newest two at each statement, of every fourth
 * of those before at its last.
 */
function killPoints(migrations: readonly Migration[]): number[] {
  const points: number[] = [];
  let before = 0;
  for (const [i, { text }] of migrations.entries()) {
    const count = statementsOf(text).length;
    const isNew = i >= migrations.length - NEWEST;
    for (let n = isNew ? 0 : count - 1; n < count; n += 1) if (isNew || i % OLD_STEP === 0) points.push(before + n);
    before += count;
  }
  return points;
}

function openEngine(location: Location): Promise<Engine> {
  return 'url' in location ? openPostgres(location.url, systemClock) : openSqlite(location.file, systemClock);
}

/** Every table, column, index and constraint as the database itself tells them, past the store. */
async function schemaOf({ location }: TestDatabase): Promise<string[]> {
  if ('file' in location) {
    const database = new DatabaseSync(location.file);
    const rows = database.prepare('select type, name, sql from sqlite_master order by type, name').all();
    database.close();
    return rows.map((row) => JSON.stringify(row));
  }
  const client = new Client({ connectionString: location.url });
  await client.connect();
  const columns =
    'select table_name, column_name, data_type, is_nullable from information_schema.columns where ' +
    "table_schema = 'public'";
  const indexes = "select tablename, indexname, indexdef, '' from pg_indexes where schemaname = 'public'";
  const { rows } = await client.query(`${columns} union all ${indexes} order by 1, 2`);
  await client.end();
  return rows.map((row) => JSON.stringify(row));
}

for (const engine of ENGINES) {
  describe(`Migrations of ${engine.name}`, () => {
    test('F31: a kill between statements leaves nothing of the new schema, and the next start makes all of it', async (t) => {
      const [whole, ...killed] = await Promise.all(Array.from({ length: 1 + KILLERS }, () => engine.createEmpty()));
      t.after(() => Promise.all([whole!, ...killed].map((each) => each.remove())));
      const empty = await schemaOf(whole!);
      await whole!.open();
      const complete = await schemaOf(whole!);
      const points = killPoints(migrationsOf(engine));
      const statements = migrationsOf(engine).reduce((sum, { text }) => sum + statementsOf(text).length, 0);
      assert.ok(statements > migrationsOf(engine).length, 'the files were not split into their statements');
      const left = points.values();
      const killAll = async (database: TestDatabase): Promise<void> => {
        for (const count of left) {
          const { signal, stderr } = await startChild('migrate', { location: database.location, count }).ended;
          assert.equal(signal, 'SIGKILL', stderr);
          assert.deepEqual(await schemaOf(database), empty, `after ${count} statements`);
        }
        const store = await database.open();
        assert.deepEqual(await store.dialect.integrity(store.db), []);
        assert.deepEqual(await schemaOf(database), complete);
        await enqueue(store);
      };
      await Promise.all(killed.map(killAll));
    });

    test('A migration that fails leaves the schema that was there', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      await database.open();
      const before = await schemaOf(database);
      const opened = await openEngine(database.location);
      const broken = {
        number: nextNumber(engine),
        name: 'broken',
        text: 'create table extra (id text); insert into nothing values (1);',
        sha256: 'x',
      };
      t.after(() => opened.close());
      await assert.rejects(migrate(opened, [...migrationsOf(engine), broken], 0));
      assert.deepEqual(await schemaOf(database), before);
      assert.equal((await appliedMigrations(opened.reader)).length, migrationsOf(engine).length);
    });

    test('F31: a store of a newer build is refused by this one, which changes nothing in it', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      const store = await database.open();
      await store.write(async ({ db }) => {
        await db
          .insertInto('schema_migrations')
          .values({ number: nextNumber(engine), name: 'later', sha256: 'x', applied_at: 0 })
          .execute();
      });
      const before = await schemaOf(database);
      await assert.rejects(
        database.open(),
        (error) => error instanceof SchemaMismatch && /schema \d+ \(later\).*newer build/.test(error.message),
      );
      assert.deepEqual(await schemaOf(database), before);
    });

    test('An older schema is refused unchanged without permission to migrate; a migration updates it', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      const all = migrationsOf(engine);
      const old = await openEngine(database.location);
      await migrate(old, all.slice(0, -1), 0);
      const before = await schemaOf(database);
      await assert.rejects(
        migrate(old, all, 0, 'create'),
        (error) => error instanceof SchemaMismatch && /svc migrate/.test(error.message),
      );
      await assert.rejects(database.open(), SchemaMismatch);
      assert.deepEqual(await schemaOf(database), before);
      assert.deepEqual(
        (await migrate(old, all, 0)).map(({ number }) => number),
        [all.at(-1)?.number],
      );
      await old.close();
      assert.deepEqual((await database.open()).migrated, []);
    });

    test('A running daemon keeps reading whole rows after another process has added a column', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      const running = await database.open();
      const id = await enqueue(running);
      const work = async (): Promise<void> => {
        assert.equal((await findJob(running.db, id))?.id, id);
        await running.write((tx) => claimJobs(tx, 'dmn_running', 1));
      };
      await work();
      const other = await openEngine(database.location);
      t.after(() => other.close());
      await migrate(
        other,
        [
          ...migrationsOf(engine),
          { number: nextNumber(engine), name: 'later', text: 'alter table jobs add column extra text;', sha256: 'x' },
        ],
        0,
      );
      assert.equal(
        (await appliedMigrations(other.reader)).length,
        migrationsOf(engine).length + 1,
        'the connections of who migrates stay',
      );
      // A connection that ended is a store that cannot be reached, for one attempt of each connection.
      for (let attempt = 0; ; attempt += 1) {
        const error = await work().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        if (error === null) break;
        if (!(error instanceof Failure) || error.code !== 'unavailable' || attempt === 20) throw error;
      }
    });

    test('A store without a schema gets the whole schema when it is opened', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      assert.equal((await database.open()).migrated.length, migrationsOf(engine).length);
    });

    test('A store whose migration is not the one of this build is refused', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      const store = await database.open();
      await store.write(async ({ db }) => {
        await db.updateTable('schema_migrations').set({ sha256: 'altered' }).where('number', '=', 1).execute();
      });
      await assert.rejects(
        database.open(),
        (error) => error instanceof SchemaMismatch && /Migration 1 \(foundation\)/.test(error.message),
      );
    });

    test('Processes that open a new store at once all find it whole', async (t) => {
      for (let round = 0; round < 3; round += 1) {
        const database = await engine.createEmpty();
        t.after(() => database.remove());
        const answer = await Promise.all(
          Array.from({ length: 4 }, (_, n) => runChild('open', { location: database.location, name: `dmn_${n}` })),
        );
        assert.deepEqual(
          answer,
          Array.from({ length: 4 }, () => ({ opened: 0 })),
        );
        const store = await database.open();
        assert.equal((await appliedMigrations(store.db)).length, migrationsOf(engine).length);
      }
    });

    test('What was applied is known with its number, name and checksum; a new database has had none', async (t) => {
      const database = await engine.createEmpty();
      t.after(() => database.remove());
      const opened = await openEngine(database.location);
      assert.deepEqual(await appliedMigrations(opened.reader), []);
      await opened.close();
      const store = await database.open();
      assert.deepEqual(
        (await appliedMigrations(store.db)).map((row) => ({ ...row })),
        migrationsOf(engine).map(({ number, name, sha256 }) => ({ number, name, sha256 })),
      );
    });
  });
}

const [, POSTGRES] = ENGINES;

test('A migration on PostgreSQL has no time limit for a statement', async (t) => {
  const database = await POSTGRES!.createEmpty();
  t.after(() => database.remove());
  const opened = await openEngine(database.location);
  t.after(() => opened.close());
  await migrate(
    opened,
    [
      {
        number: 1,
        name: 'slow',
        text: "create table slow as select current_setting('statement_timeout') as limit_then;",
        sha256: 'x',
      },
    ],
    0,
  );
  const { rows } = await sql<{ limit_then: string }>`select limit_then from slow`.execute(opened.reader);
  assert.deepEqual(rows, [{ limit_then: '0' }]);
});
