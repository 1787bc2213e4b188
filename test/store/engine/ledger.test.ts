import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { toJson } from '../../../src/lib/json.ts';
import { GENESIS } from '../../../src/store/engine/ledger.ts';
import { verifyLedger } from '../../../src/store/audit/verify.ts';
import type { LedgerRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { entry, ENGINES, type TestDatabase, wipe } from '../engine-fixture.ts';
import { TEST_RING } from '../../support/seal.ts';

const CHAIN_OF = { SQLite: 'main', PostgreSQL: 'dmn_test' };

async function append(store: Store, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => store.write(async (tx) => tx.record(entry(`job_${n}`)))));
}

/** Each column of a row that somebody could change, with a value that it had not. */
const ALTERATIONS: Partial<LedgerRow> = {
  at: 1,
  principal: 'mallory',
  owner: 'mallory',
  via: 'cli',
  operation: 'nothing',
  target: null,
  detail: toJson({}),
  prev: GENESIS,
  hash: 'f'.repeat(64),
};

for (const engine of ENGINES) {
  const chain = CHAIN_OF[engine.name];

  describe(`The audit ledger on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    before(async () => {
      database = await engine.create();
      store = await database.open({ daemonId: 'dmn_test' });
    });
    after(() => database.remove());
    beforeEach(() => wipe(store));

    const faults = async (): Promise<readonly string[]> => (await verifyLedger(store.db, TEST_RING)).faults;

    test('Rows of groups of every size form one chain from the first row on, numbered without a gap', async () => {
      for (const size of [1, 2, 5, 21, 150]) await append(store, size);
      assert.deepEqual(await verifyLedger(store.db, TEST_RING), { chains: 1, rows: 179, faults: [], unkeyed: 0 });
      const rows = await store.db.selectFrom('ledger').selectAll().orderBy('seq').execute();
      assert.equal(rows[0]?.prev, GENESIS);
      assert.deepEqual(
        rows.map((row) => row.seq),
        Array.from({ length: 179 }, (_, n) => n + 1),
      );
      assert.ok(rows.every((row) => row.chain === chain));
    });

    test('A write that fails leaves no row, and those beside it follow each other', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 9 }, (_, n) =>
          store.write(async (tx) => {
            tx.record(entry(`job_${n}`));
            if (n % 3 === 1) throw new Error('refused');
          }),
        ),
      );
      assert.equal(results.filter((each) => each.status === 'rejected').length, 3);
      const rows = await store.db.selectFrom('ledger').select(['seq', 'target']).orderBy('seq').execute();
      assert.deepEqual(
        rows.map((row) => row.target),
        [0, 2, 3, 5, 6, 8].map((n) => `job_${n}`),
      );
      assert.deepEqual(await faults(), []);
    });

    for (const [column, value] of Object.entries(ALTERATIONS)) {
      test(`T59: A row whose ${column} was altered is named`, async () => {
        await append(store, 5);
        await store.write(async ({ db }) => {
          await db
            .updateTable('ledger')
            .set({ [column]: value })
            .where('seq', '=', 3)
            .execute();
        });
        const [fault, ...others] = await faults();
        assert.match(
          fault ?? '',
          new RegExp(`^chain ${chain}: row 3 (was altered|does not follow the row before it)$`),
        );
        assert.deepEqual(others, []);
      });
    }

    test('A row that was removed is named, in the middle and at the end', async () => {
      await append(store, 5);
      await store.write(async ({ db }) => void (await db.deleteFrom('ledger').where('seq', '=', 5).execute()));
      assert.deepEqual(await faults(), [`chain ${chain}: row 5 is missing`]);
      await store.write(async ({ db }) => void (await db.deleteFrom('ledger').where('seq', '=', 2).execute()));
      assert.deepEqual(await faults(), [`chain ${chain}: row 2 is missing`]);
    });

    test('Two rows that changed places are named', async () => {
      await append(store, 5);
      await store.write(async ({ db }) => {
        for (const [from, to] of [
          [2, 99],
          [3, 2],
          [99, 3],
        ] as const) {
          await db.updateTable('ledger').set({ seq: to }).where('seq', '=', from).execute();
        }
      });
      assert.deepEqual(await faults(), [`chain ${chain}: row 2 does not follow the row before it`]);
    });

    test('A chain that was cut short together with the length in its head is named', async () => {
      await append(store, 5);
      await store.write(async ({ db }) => {
        await db.deleteFrom('ledger').where('seq', '=', 5).execute();
        await db.updateTable('chains').set({ length: 4 }).execute();
      });
      assert.deepEqual(await faults(), [`chain ${chain}: its head does not match row 4`]);
    });

    test('Two processes that append at once keep sound chains, without a lost or doubled row', async () => {
      const second = await database.open({ daemonId: 'dmn_second' });
      await Promise.all([append(store, 150), append(second, 150)]);
      const verdict = await verifyLedger(store.db, TEST_RING);
      assert.deepEqual(verdict, { chains: engine.hasLeases ? 2 : 1, rows: 300, faults: [], unkeyed: 0 });
    });

    test('Two processes that share a chain keep it sound', async () => {
      const twin = await database.open({ daemonId: 'dmn_test' });
      for (let round = 0; round < 5; round += 1) await Promise.all([append(store, 20), append(twin, 20)]);
      assert.deepEqual(await verifyLedger(store.db, TEST_RING), { chains: 1, rows: 200, faults: [], unkeyed: 0 });
    });
  });
}
