/** Counts that somebody wrote into the database, the highest that their columns take, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readPrefixList } from '../../../src/domain/netgroups/prefix-list.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { sumOf } from '../../../src/store/engine/counts.ts';
import { countEvents, insertEvent } from '../../../src/store/events/events.ts';
import { currentNetgroups, insertNetgroup, listNetgroups } from '../../../src/store/netgroups/netgroups.ts';
import { retryDelivery, settleDelivery } from '../../../src/store/notify/deliveries.ts';
import { assignTargets, requestNotification } from '../../../src/store/notify/notifications.ts';
import { faultRow } from '../../../src/reaction/receive.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

/** Of columns of 32 bits on PostgreSQL, and of 64 bits. */
const LAST_COUNT = 2_147_483_647;
const LAST_TOTAL = 9_223_372_036_854_775_807n as unknown as number;

/** The sum of two of them is beyond what the databases hold. */
const HALF_OF_LAST = (2n ** 62n) as unknown as number;

const TARGET = 'notify:ops#0';

async function delivery(store: Store): Promise<{ readonly page_id: string; readonly target: string }> {
  const facts = { kind: 'approvals', count: 1 } as const;
  const page = await store.write(async (tx) => {
    const id = await requestNotification(tx, { topic: 'approvals:x', facts, alone: true });
    assert.ok(id !== null);
    await assignTargets(tx, id, [{ target: TARGET, daemonId: 'dmn_a' }]);
    return id;
  });
  return { page_id: page, target: TARGET };
}

for (const engine of ENGINES) {
  describe(`The highest count of a column, on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('T80: does not keep a delivery from being recorded', async () => {
      const due = await delivery(its.store);
      await its.store.write(({ db }) => db.updateTable('deliveries').set({ attempts: LAST_COUNT }).execute());
      await its.store.write((tx) => retryDelivery(tx, due, 'away', Date.now()));
      await its.store.write(({ db }) => db.updateTable('deliveries').set({ attempts: LAST_COUNT }).execute());
      await its.store.write((tx) => settleDelivery(tx, { ...due, state: 'dead', failure: 'away' }));
      const rows = await its.store.db.selectFrom('deliveries').select(['state', 'attempts']).execute();
      assert.deepEqual(rows, [{ state: 'dead', attempts: 1 }]);
    });

    test('T80: does not keep an event from being recorded', async () => {
      const add = () => its.store.write(async (tx) => insertEvent(tx, faultRow(tx.now, { source: 'check' }, 'x')));
      await add();
      await its.store.write(({ db }) => db.updateTable('event_counts').set({ count: LAST_TOTAL }).execute());
      await add();
      assert.equal((await countEvents(its.store.db)).error, 1);
    });

    test('T80: does not keep the times of all rows from being added up', async () => {
      await its.store.write(async (tx) => {
        await insertNetgroup(tx, 'dc', readPrefixList('10.0.0.0/8'));
        await insertNetgroup(tx, 'lab', readPrefixList('10.1.0.0/16'));
      });
      const groups = currentNetgroups(its.store, systemClock);
      assert.equal((await groups.current()).classify('10.1.0.1'), 'lab');
      await its.store.write(({ db }) => db.updateTable('netgroups').set({ updated_at: HALF_OF_LAST }).execute());
      const mark = await its.store.db.selectFrom('netgroups').select(sumOf('updated_at').as('sum')).execute();
      assert.deepEqual(mark, [{ sum: String(2n * (2n ** 62n % 10n ** 13n)) }]);
    });

    test('T80: is read as the nearest number, with all other rows', async () => {
      const before = await its.store.write((tx) => insertNetgroup(tx, 'dc', readPrefixList('10.0.0.0/8')));
      await its.store.write((tx) => insertNetgroup(tx, 'lab', readPrefixList('10.1.0.0/16')));
      await its.store.write(({ db }) =>
        db.updateTable('netgroups').set({ created_at: LAST_TOTAL }).where('name', '=', 'lab').execute(),
      );
      const rows = await listNetgroups(its.store.db);
      assert.deepEqual(
        rows.map(({ name, created_at: at }) => [name, at]),
        [
          ['dc', before.created_at],
          ['lab', 2 ** 63],
        ],
      );
    });
  });
}
