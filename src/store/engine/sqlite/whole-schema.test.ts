/** The script that makes a new store. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { PROGRAM_ROOT } from '../../../lib/files/program-files.ts';
import { readMigrations } from '../migration.ts';
import { wholeSchema } from './whole-schema.ts';

const MIGRATIONS = readMigrations(join(PROGRAM_ROOT, 'migrations', 'sqlite'));

/** All definitions, and all rows of each table, of a database that these scripts made. */
function madeBy(scripts: readonly string[]): unknown {
  const db = new DatabaseSync(':memory:');
  try {
    for (const text of scripts) db.exec(text);
    const definitions = db.prepare('select type, name, tbl_name, sql from sqlite_master order by type, name').all();
    const tables = definitions.filter(({ type }) => type === 'table').map(({ name }) => String(name));
    return { definitions, rows: tables.map((name) => [name, db.prepare(`select * from "${name}"`).all()]) };
  } finally {
    db.close();
  }
}

test('it makes what the migrations make, to the last row', () => {
  const texts = MIGRATIONS.map(({ text }) => text);
  assert.ok(texts.length > 30);
  assert.deepEqual(madeBy([wholeSchema(MIGRATIONS)]), madeBy(texts));
});

test('it names the migrations that it stands for', () => {
  const [whole] = wholeSchema(MIGRATIONS).split('\n');
  const [older] = wholeSchema(MIGRATIONS.slice(0, -1)).split('\n');
  assert.match(whole ?? '', /^-- Of the migrations [0-9a-f]{64}\.$/);
  assert.notEqual(whole, older);
});
