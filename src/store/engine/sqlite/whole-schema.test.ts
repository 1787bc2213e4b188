/** The script that makes a new store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { PROGRAM_ROOT } from '../../../lib/files/program-files.ts';
import { readMigrations } from '../migration.ts';
import { readWholeSchema, wholeSchema } from './whole-schema.ts';

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

test('it is taken for its own migrations only, and only whole', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-schema-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'whole-schema.sql');
  assert.equal(readWholeSchema(MIGRATIONS, file), null, 'without a file');
  const whole = wholeSchema(MIGRATIONS);
  writeFileSync(file, whole);
  assert.equal(readWholeSchema(MIGRATIONS, file), whole);
  assert.equal(readWholeSchema(MIGRATIONS.slice(0, -1), file), null, 'for older migrations');
  writeFileSync(file, whole.slice(0, whole.lastIndexOf('insert into')));
  assert.equal(readWholeSchema(MIGRATIONS, file), null, 'cut behind a statement');
});

/** Words of SQL that would make a script of one moment differ from the migrations at another. */
const OF_THE_MOMENT = /\b(unixepoch|strftime|datetime|julianday|random|randomblob|current_(date|time|timestamp))\b/i;
/** A daemon of the build before still runs after a migration. It takes columns by their place (driver.ts). */
const TAKES_AWAY = /\b(rename|drop\s+(table|column))\b/i;

test('a migration only adds, and writes nothing that depends on the time or on chance', () => {
  for (const folder of ['sqlite', 'postgres'])
    for (const { name, text } of readMigrations(join(PROGRAM_ROOT, 'migrations', folder))) {
      assert.doesNotMatch(text, TAKES_AWAY, `${folder} ${name}`);
      assert.doesNotMatch(text, OF_THE_MOMENT, `${folder} ${name}`);
    }
  assert.match('alter table jobs drop column kind', TAKES_AWAY);
  assert.match('insert into t values (unixepoch())', OF_THE_MOMENT);
});
