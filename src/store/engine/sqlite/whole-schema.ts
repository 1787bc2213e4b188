import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorCode } from '../../../lib/error-code.ts';
import { programFile } from '../../../lib/files/program-files.ts';
import type { Migration } from '../migration.ts';

/**
 * What all migrations make of an empty database, in one script: a new store takes a fourth of the time that it takes
 * with one after the other, as most of them change what others have made. A bundle has the script; without it the
 * migrations run.
 */
export const WHOLE_SCHEMA = 'store/engine/sqlite/whole-schema.sql';

/** The script of this build; null without a whole one for exactly these migrations. */
export function readWholeSchema(
  migrations: readonly Migration[],
  file: string = programFile(WHOLE_SCHEMA),
): string | null {
  try {
    const text = readFileSync(file, 'utf8');
    const body = text.slice(text.indexOf('\n') + 1);
    return text === withHead(migrations, body) ? text : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Makes the script. */
export function wholeSchema(migrations: readonly Migration[]): string {
  const db = new DatabaseSync(':memory:');
  try {
    for (const { text } of migrations) db.exec(text);
    const made = db.prepare('select sql from sqlite_master where sql is not null order by rowid').all();
    return withHead(migrations, [...made.map(({ sql }) => `${String(sql)};\n`), ...rows(db)].join(''));
  } finally {
    db.close();
  }
}

/** The first line tells a script of other migrations, and one that a full disk has cut. */
function withHead(migrations: readonly Migration[], body: string): string {
  return `-- ${hash('sha256', [...migrations.map(({ sha256 }) => sha256), body].join('\n'))}\n${body}`;
}

/** The rows that migrations have written. */
function rows(db: DatabaseSync): string[] {
  const tables = db.prepare("select name from sqlite_master where type = 'table' order by rowid").all();
  return tables.flatMap(({ name }) => {
    const columns = db.prepare('select name from pragma_table_info(?)').all(String(name));
    const names = columns.map((column) => `"${String(column['name'])}"`);
    const values = db.prepare(`select ${names.map((each) => `quote(${each})`).join()} from "${String(name)}"`).all();
    return values.map(
      (row) => `insert into "${String(name)}" (${names.join()}) values (${Object.values(row).join()});\n`,
    );
  });
}
