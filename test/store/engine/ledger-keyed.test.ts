/** The ledger under the hands of somebody who can write the database and has no key. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { beginKeying } from '../../../src/app/keying/keying.ts';
import { TEST_RING } from '../../support/seal.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { keyLedger } from '../../../src/store/audit/keying.ts';
import { ledgerHeads, verifyLedger, type KeptHead } from '../../../src/store/audit/verify.ts';
import { GENESIS, rowText } from '../../../src/store/engine/ledger.ts';
import type { LedgerRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  addDaemon,
  entry,
  ENGINES,
  leaseClock,
  temporaryDirectory,
  type TestDatabase,
  wipe,
} from '../engine-fixture.ts';

async function append(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await store.write(async (tx) => tx.record(entry(`job_${n}`)));
}

/**
 * Rewrites a chain without a key, in the form of an earlier build, with rows changed by `change` and matching hashes:
 * all that SQL alone can do.
 */
async function rewrite(
  store: Store,
  chain: string,
  change: (row: LedgerRow) => Partial<LedgerRow> | null = () => ({}),
): Promise<void> {
  await store.write(async ({ db }) => {
    const rows = await db.selectFrom('ledger').selectAll().where('chain', '=', chain).orderBy('seq').execute();
    await db.deleteFrom('ledger').where('chain', '=', chain).execute();
    let [head, seq] = [GENESIS, 0];
    for (const old of rows) {
      const changed = change(old);
      if (changed === null) continue;
      seq += 1;
      const row = { ...old, key_id: null, ...changed, seq, prev: head };
      head = row.key_id === null ? hash('sha256', rowText(row)) : row.hash;
      await db
        .insertInto('ledger')
        .values({ ...row, hash: head })
        .execute();
    }
    await db.updateTable('chains').set({ length: seq, head, key_id: null }).where('id', '=', chain).execute();
  });
}

/** Makes the store one of an earlier build, which knew no keys. */
async function ofEarlierBuild(store: Store): Promise<void> {
  for (const { id } of await store.db.selectFrom('chains').select('id').execute()) await rewrite(store, id);
  await store.write(async ({ db }) => void (await db.deleteFrom('ledger_keying').execute()));
}

for (const engine of ENGINES) {
  describe(`T74: the keyed ledger on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    before(async () => {
      database = await engine.create();
      store = await database.open({ daemonId: 'dmn_old' });
    });
    after(() => database.remove());
    beforeEach(async () => {
      await wipe(store);
      await store.write(async ({ db }) => {
        await db.deleteFrom('ledger_keying').execute();
        await db.insertInto('ledger_keying').values({ id: 1, keyed_at: 0, closed_at: 0 }).execute();
      });
    });

    const faults = async (kept: readonly KeptHead[] = []): Promise<readonly string[]> =>
      (await verifyLedger(store.db, TEST_RING, kept)).faults;

    test('T74: rows that were changed by SQL with all hashes recomputed are found', async () => {
      await append(store, 5);
      assert.deepEqual(await faults(), []);
      await rewrite(store, store.chain, (row) => ({
        principal: row.seq === 2 ? 'mallory' : row.principal,
        key_id: null,
      }));
      assert.deepEqual(await faults(), [`chain ${store.chain}: its rows have no key, and no daemon made its seam`]);
    });

    test('T74: a chain that was rewritten without a key is found also after a daemon continued it', async () => {
      await append(store, 5);
      await rewrite(store, store.chain, (row) => ({
        principal: row.seq === 2 ? 'mallory' : row.principal,
        key_id: null,
      }));
      await append(store, 2);
      assert.deepEqual(await faults(), [
        `chain ${store.chain}: row 6 has a key and follows rows that have none, and is no seam`,
      ]);
    });

    test('T74: a row that keeps its key id, with a hash made without the key, is found', async () => {
      await append(store, 5);
      await rewrite(store, store.chain, (row) =>
        row.seq < 3 ? { key_id: row.key_id } : row.seq === 3 ? { key_id: row.key_id, principal: 'mallory' } : {},
      );
      assert.deepEqual(await faults(), [`chain ${store.chain}: row 3 was altered`]);
    });

    test('T74: a row without a key behind one that has a key is found', async () => {
      await append(store, 5);
      await rewrite(store, store.chain, (row) => (row.seq < 4 ? { key_id: row.key_id } : {}));
      assert.match((await faults()).join(), /row 4 has no key and follows one that has/);
    });

    test('T74: rows cut off the end, with the head moved back, are found by the head that was kept', async () => {
      await append(store, 3);
      const early = await ledgerHeads(store.db);
      await append(store, 2);
      const late = await ledgerHeads(store.db);
      assert.deepEqual(await faults([...early, ...late]), []);
      await store.write(async ({ db }) => {
        await db.deleteFrom('ledger').where('seq', '>', 4).execute();
        const { hash: head } = await db
          .selectFrom('ledger')
          .select('hash')
          .where('seq', '=', 4)
          .executeTakeFirstOrThrow();
        await db.updateTable('chains').set({ length: 4, head }).execute();
      });
      assert.deepEqual(await faults(), []);
      assert.deepEqual(await faults(early), []);
      assert.deepEqual(await faults(late), [`chain ${store.chain}: row 5, whose hash was kept, is missing`]);
    });

    test('T74: a chain of an earlier build continues after a seam, whose hash covers the rows before it', async () => {
      await append(store, 4);
      await ofEarlierBuild(store);
      const before = await verifyLedger(store.db, TEST_RING);
      assert.deepEqual([before.faults, before.unkeyed], [[], 1]);
      const next = await database.open({ daemonId: 'dmn_new' });
      await keyLedger(next, true);
      await append(next, 2);
      assert.deepEqual(await verifyLedger(store.db, TEST_RING), {
        chains: engine.hasLeases ? 2 : 1,
        rows: 8,
        faults: [],
        unkeyed: 0,
      });
      const seam = await store.db
        .selectFrom('ledger')
        .selectAll()
        .where('operation', '=', 'ledger.seam')
        .executeTakeFirstOrThrow();
      assert.deepEqual([seam.chain, seam.seq, seam.key_id], [store.chain, 5, TEST_RING.activeId]);
      await rewrite(store, store.chain, (row) =>
        row.seq === 2 ? { principal: 'mallory' } : { key_id: row.key_id, hash: row.hash },
      );
      assert.deepEqual(await faults(), [`chain ${store.chain}: row 5 was altered`]);
      await keyLedger(next, true);
      assert.equal(
        (await store.db.selectFrom('ledger').selectAll().where('operation', '=', 'ledger.seam').execute()).length,
        1,
        'one seam for ever',
      );
    });

    test('T74: nothing is taken over twice, also where the record of the first time was removed', async () => {
      await append(store, 4);
      await rewrite(store, store.chain, (row) => (row.seq === 2 ? { principal: 'mallory' } : {}));
      await store.write(async ({ db }) => void (await db.deleteFrom('ledger_keying').execute()));
      const next = await database.open({ daemonId: 'dmn_new' });
      await keyLedger(next, false);
      assert.match((await faults()).join(), /its rows have no key, and no daemon made its seam/);
    });

    test('T74: rows of a key that was rotated out are verified as long as the file holds it', async () => {
      await append(store, 2);
      assert.deepEqual(
        (await verifyLedger(store.db, createKeyring([{ key: Buffer.alloc(32, 8), createdAt: null }]))).faults,
        [`chain ${store.chain}: row 1 cannot be verified: key ${TEST_RING.activeId} is not in the seal key file`],
      );
      const rotated = createKeyring([
        { key: Buffer.alloc(32, 7), createdAt: null },
        { key: Buffer.alloc(32, 9), createdAt: 1 },
      ]);
      assert.deepEqual((await verifyLedger(store.db, rotated)).faults, []);
      assert.notDeepEqual((await verifyLedger(store.db, null)).faults, []);
    });

    test('T74: a write without the key changes nothing', async () => {
      const without = await database.open({
        keyring: () => Promise.reject(new Error('--seal-key-file: no such file')),
      });
      await assert.rejects(append(without, 1), /--seal-key-file/);
      const other = await database.open({
        keyring: () => Promise.resolve(createKeyring([{ key: Buffer.alloc(32, 8), createdAt: null }])),
      });
      // A process notes its key with its first row, and the table was emptied since.
      await append(await database.open({ daemonId: 'dmn_old' }), 1);
      await assert.rejects(append(other, 1), /--seal-key-file: this store is sealed with another key/);
      assert.equal((await verifyLedger(store.db, TEST_RING)).rows, 1);
    });
  });
}

const [, POSTGRES] = ENGINES;

test('T74: while a daemon of an earlier build is alive its chain gets no seam, and gets one later', async (t) => {
  const database = await POSTGRES!.create();
  t.after(() => database.remove());
  const old = await database.open({ daemonId: 'dmn_old' });
  const { id } = await addDaemon(old, 'dmn_old', (await leaseClock(old)) + 60_000);
  await append(old, 2);
  await ofEarlierBuild(old);
  await old.write(
    async ({ db }) =>
      void (await db.updateTable('daemons').set({ ledger_key_id: null }).where('id', '=', id).execute()),
  );
  const dataDir = temporaryDirectory();
  t.after(() => dataDir.remove());
  // Starts of one data directory, which remembers what it did.
  const start = (opened: Store): Promise<void> =>
    beginKeying({ store: opened, paths: { dir: dataDir.path }, settings: { databaseUrl: 'postgres://' } });
  const first = await database.open({ daemonId: 'dmn_first' });
  await start(first);
  const between = await verifyLedger(first.db, TEST_RING);
  assert.deepEqual([between.faults, between.unkeyed], [[], 1]);
  await first.write(async ({ db, now }) => void (await db.updateTable('daemons').set({ stopped_at: now }).execute()));
  await start(await database.open({ daemonId: 'dmn_second' }));
  const late = await verifyLedger(first.db, TEST_RING);
  assert.deepEqual([late.faults, late.unkeyed], [[], 0]);
  await rewrite(first, old.chain, (row) => (row.seq === 2 ? { principal: 'mallory' } : {}));
  await first.write(async ({ db }) => void (await db.deleteFrom('ledger_keying').execute()));
  await start(await database.open({ daemonId: 'dmn_third' }));
  assert.match(
    (await verifyLedger(first.db, TEST_RING)).faults.join(),
    /its rows have no key, and no daemon made its seam/,
  );
});
