/** The rows of backups, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import {
  forgetRemoved,
  getBackup,
  insertBackup,
  listBackups,
  listRemoved,
  noteVerified,
  removeSurplus,
} from '../../../src/store/backups/backups.ts';
import type { Store } from '../../../src/store/store.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

async function add(store: Store, name = 'store'): Promise<string> {
  const id = newId('bak', Date.now());
  const row = { id, job_id: `job_${id.slice(4)}`, name, file: `${id}.backup`, host: 'here' };
  await store.write((tx) =>
    insertBackup(tx, { ...row, created_at: 1, size_bytes: 6_000_000_000, sha256: 'ab', verified_at: 2 }),
  );
  return id;
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

for (const engine of ENGINES) {
  describe(`Backups on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('are listed newest first, in batches', async () => {
      const { store } = fresh;
      const ids = [await add(store), await add(store), await add(store)].toReversed();
      assert.deepEqual(idsOf(await listBackups(store.db, undefined, 2)), ids.slice(0, 2));
      assert.deepEqual(idsOf(await listBackups(store.db, ids[1], 2)), ids.slice(2));
      const row = await getBackup(store.db, ids[0] ?? '');
      assert.equal(row.size_bytes, 6_000_000_000);
    });

    test('of one name are removed but for the newest ones, and stay known until their files are gone', async () => {
      const { store } = fresh;
      const other = await add(store, 'other');
      const ids = [await add(store), await add(store), await add(store)];
      await store.write((tx) => removeSurplus(tx, 'store', 2));
      assert.deepEqual(idsOf(await listBackups(store.db, undefined, 10)), [ids[2], ids[1], other]);
      assert.deepEqual(idsOf(await listRemoved(store.db, 10)), [ids[0]]);
      await assert.rejects(getBackup(store.db, ids[0] ?? ''), refusal('not_found'));
      await store.write((tx) => forgetRemoved(tx, ids));
      assert.deepEqual(await listRemoved(store.db, 10), []);
      assert.equal((await listBackups(store.db, undefined, 10)).length, 3, 'only removed ones are forgotten');
    });

    test('T80: rows that somebody wrote or changed push out no backup, and are not removed', async () => {
      const { store } = fresh;
      const ids = [await add(store), await add(store), await add(store)];
      const [first = '', second = ''] = ids;
      const honest = await getBackup(store.db, second);
      await store.write(async ({ db }) => {
        await db.updateTable('backups').set({ file: 'another.backup' }).where('id', '=', first).execute();
        for (let n = 0; n < 5; n += 1)
          await db
            .insertInto('backups')
            .values({ ...honest, id: newId('bak', Date.now()) })
            .execute();
      });
      await store.write((tx) => removeSurplus(tx, 'store', 2));
      assert.deepEqual(await listRemoved(store.db, 10), []);
      await store.write((tx) => removeSurplus(tx, 'store', 1));
      assert.deepEqual(idsOf(await listRemoved(store.db, 10)), [second]);
    });

    test('say when they were last read, or that they could not be', async () => {
      const { store } = fresh;
      const id = await add(store);
      await store.write((tx) => noteVerified(tx, id, 77));
      assert.equal((await getBackup(store.db, id)).verified_at, 77);
      await store.write((tx) => noteVerified(tx, id, null));
      assert.equal((await getBackup(store.db, id)).verified_at, null);
    });
  });
}
