/** A column that names a job or an event has a hook of its area, so that nothing is deleted which it needs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { STORE_AREAS } from '../../../src/store/areas.ts';
import type { Db } from '../../../src/store/schema/schema.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

interface Named {
  readonly table: string;
  readonly column: string;
}

const COLUMNS: Readonly<Record<string, RawBuilder<Named>>> = {
  SQLite: sql`select m.name as "table", c.name as "column" from sqlite_master as m, pragma_table_info(m.name) as c
    where m.type = 'table'`,
  PostgreSQL: sql`select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema()`,
};

/** `job_id`, `last_job_id`, `moved_by_job`, `event_id`. */
const NAMES_ONE = /(^|_)(job|event)(_id)?$/;

/** What an area says of its columns, without which the deletion of old rows knows nothing of them. */
function hooked(): Set<string> {
  return new Set(
    STORE_AREAS.flatMap(({ keepsJobs = [], keepsEvents = [], belongsToJob = [], outlives = [] }) => [
      ...[...keepsJobs, ...keepsEvents].map(({ column }) => column),
      ...belongsToJob.map(({ table }) => `${table}.job_id`),
      ...outlives,
    ]),
  );
}

async function forgotten(db: Db, columns: RawBuilder<Named>): Promise<string[]> {
  const known = hooked();
  const { rows } = await columns.execute(db);
  return rows
    .filter(({ column }) => NAMES_ONE.test(column))
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !known.has(name));
}

for (const engine of ENGINES) {
  describe(`Columns that name a job or an event on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('each has a hook, and one that has none is found', async () => {
      const columns = COLUMNS[engine.name];
      assert.ok(columns);
      await fresh.store.write(async ({ db }) => {
        assert.deepEqual(await forgotten(db, columns), []);
        await sql`create table planted (name text, used_job_id text)`.execute(db);
        assert.deepEqual(await forgotten(db, columns), ['planted.used_job_id']);
        await sql`drop table planted`.execute(db);
      });
    });
  });
}
