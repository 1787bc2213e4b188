/** The files of a SQLite store. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { enqueue, ENGINES, type TestDatabase } from '../engine-fixture.ts';

const [SQLITE] = ENGINES;

const fileOf = ({ location }: TestDatabase): string => ('file' in location ? location.file : '');

describe('The files of a SQLite store', () => {
  test('can be read by their owner only, the log and the shared memory included, whatever the umask', async (t) => {
    const umask = process.umask(0);
    t.after(() => process.umask(umask));
    const database = await SQLITE!.createEmpty();
    t.after(() => database.remove());
    await enqueue(await database.open());
    for (const suffix of ['', '-wal', '-shm']) {
      const path = `${fileOf(database)}${suffix}`;
      assert.ok(existsSync(path), path);
      assert.equal(statSync(path).mode & 0o777, 0o600, path);
    }
  });

  test('F08: the connection that writes syncs each commit, in write-ahead mode, with foreign keys on', async (t) => {
    const database = await SQLITE!.createEmpty();
    t.after(() => database.remove());
    const store = await database.open();
    const settings = await store.write(async ({ db }) => {
      const read = async (name: string): Promise<unknown> =>
        Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0];
      return {
        synchronous: await read('synchronous'),
        journal: await read('journal_mode'),
        keys: await read('foreign_keys'),
      };
    });
    assert.deepEqual(settings, { synchronous: 2, journal: 'wal', keys: 1 });
    await assert.rejects(
      sql`delete from jobs`.execute(store.db),
      /readonly|read-only|query_only/,
      'the connection that reads could write',
    );
  });

  test('A file that is no database is refused, and left as it was', async (t) => {
    const database = await SQLITE!.createEmpty();
    t.after(() => database.remove());
    writeFileSync(fileOf(database), 'this is a letter, not a database, and it stays as it is');
    await assert.rejects(database.open(), /not a database/);
    assert.match(readFileSync(fileOf(database), 'utf8'), /^this is a letter/);
  });
});
