/** A column that names a job or an event has a hook of its area, so that nothing is deleted which it needs. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import type { StoreArea } from '../../../src/store/area.ts';
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

function all<T>(of: (area: StoreArea) => readonly T[]): T[] {
  return STORE_AREAS.flatMap((area) => of(area));
}

/** The columns of which an area says what becomes of the row that they name, by what they name. */
function hooked(): Readonly<Record<string, ReadonlySet<string>>> {
  const outlives = all((area) => area.outlives ?? []);
  const keepsEvents = all((area) => area.keepsEvents ?? []).map(({ column }) => column);
  return {
    job: new Set<string>([
      ...all((area) => area.keepsJobs ?? []).map(({ column }) => column),
      ...all((area) => area.belongsToJob ?? []).map(({ table }) => `${table}.job_id`),
      ...outlives,
      // It keeps its own row, while the job that it names is there.
      ...keepsEvents.filter((column) => column === 'events.job_id'),
    ]),
    event: new Set<string>([...keepsEvents, ...outlives]),
  };
}

const SCHEMA = join(import.meta.dirname, '..', '..', '..', 'src', 'store', 'schema');
/** Those that areas declare: others are of an area that there was, and nothing uses them. */
const TABLES: readonly string[] = globSync('*/tables.ts', { cwd: SCHEMA }).flatMap((file) => {
  const [, declared = ''] = /interface Schema \{([^}]*)\}/.exec(readFileSync(join(SCHEMA, file), 'utf8')) ?? [];
  return [...declared.matchAll(/(\w+):/g)].map(([, table = '']) => table);
});

async function forgotten(db: Db, columns: RawBuilder<Named>): Promise<string[]> {
  const known = hooked();
  const { rows } = await columns.execute(db);
  return rows.flatMap(({ table, column }) => {
    const [, , named = ''] = NAMES_ONE.exec(column) ?? [];
    const name = `${table}.${column}`;
    return named === '' || known[named]?.has(name) === true || !TABLES.includes(table) ? [] : [name];
  });
}

for (const engine of ENGINES) {
  describe(`Columns that name a job or an event on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('each has a hook, and one that has none is found', async () => {
      const columns = COLUMNS[engine.name];
      assert.ok(columns);
      await fresh.store.write(async ({ db }) => {
        assert.deepEqual(await forgotten(db, columns), []);
        await sql`alter table rules add column used_job_id text`.execute(db);
        assert.deepEqual(await forgotten(db, columns), ['rules.used_job_id']);
        await sql`alter table rules drop column used_job_id`.execute(db);
      });
    });
  });
}
