/** F10: what a clock that was ahead has stored, and what becomes of it when the clock is set back, on each database. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { SETTLE_MS, STORED_TIMES, StoredTimes } from '../../../src/daemon/maintenance/stored-times.ts';
import { PROGRAM_ROOT } from '../../../src/lib/files/program-files.ts';
import { toJson } from '../../../src/lib/json.ts';
import { isTagged } from '../../../src/store/engine/tags/tags.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { audited, type MovedTime, storeAt } from '../../support/fixtures/schedules.ts';
import { TEST_RING } from '../../support/seal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';
import { CASES, DAY_MS, HOUR_MS, timeNow } from './stored-cases.ts';

/** How far the clock was ahead. */
const AHEAD_MS = 30 * DAY_MS;

/** A daemon whose clock shows 30 days less than the one that stored the rows. */
function setBack(store: Store, byMs = AHEAD_MS): { readonly time: MovedTime; readonly look: () => Promise<number> } {
  const time = timeNow(-byMs - SETTLE_MS);
  const stored = new StoredTimes({ store: storeAt(store, time), clock: time.clock });
  time.pass(SETTLE_MS);
  return { time, look: () => stored.lookOnce() };
}

async function rowsOf(store: Store, table: string): Promise<readonly Record<string, number>[]> {
  return (await sql<Record<string, number>>`select * from ${sql.table(table)}`.execute(store.db)).rows;
}

test('F10: Every stored time has a test here and a row in the table of the documentation', () => {
  const names = STORED_TIMES.map(({ name }) => name);
  assert.deepEqual(Object.keys(CASES).toSorted(), names.toSorted());
  const page = readFileSync(`${PROGRAM_ROOT}/docs/explanation/clocks.md`, 'utf8');
  assert.deepEqual(
    names.filter((name) => !page.includes(`| ${name} |`)),
    [],
  );
});

for (const engine of ENGINES) {
  describe(`F10: A clock that was set back, on ${engine.name}`, () => {
    const its = freshStore(engine);

    const cases = Object.entries(CASES).filter(([, { leased }]) => leased !== true || engine.hasLeases);
    for (const [name, { put, table, becomes }] of cases) {
      test(`${name}: count from now on, and last as long as they were given`, async () => {
        const { store } = its;
        await put(store, Date.now());
        const before = await rowsOf(store, table);
        const { time, look } = setBack(store);
        assert.ok((await look()) > 0);
        const after = await rowsOf(store, table);
        assert.ok(after.length > 0 && after.length === before.length);
        for (const row of after)
          for (const [column, ms] of Object.entries(becomes)) assert.equal(row[column], time.now() + ms, column);
        const [entry] = (await audited(store)).filter(({ target }) => target === name);
        assert.deepEqual([entry?.operation, entry?.detail], ['clock.correct', { rows: after.length }]);
        assert.equal(await setBack(store).look(), 0, 'a second daemon changes nothing');
      });

      test(`${name}: stay as they are where the clocks of two daemons differ by less than a minute`, async () => {
        const { store } = its;
        await put(store, Date.now());
        const before = await rowsOf(store, table);
        assert.equal(await setBack(store, 50_000).look(), 0);
        assert.deepEqual(await rowsOf(store, table), before);
      });
    }

    test('A daemon that runs corrects as soon as it sees that the clock was set back, and not before', async () => {
      const { store } = its;
      const time = timeNow();
      const stored = new StoredTimes({ store: storeAt(store, time), clock: time.clock });
      assert.equal(await stored.lookOnce(), 0);
      await gate(store, { ttlMs: HOUR_MS });
      assert.equal(await stored.lookOnce(), 0);
      time.jump(-AHEAD_MS);
      assert.equal(await stored.lookOnce(), 1);
      const [row] = await rowsOf(store, 'approvals');
      assert.equal(row?.['expires_at'], time.now() + HOUR_MS);
    });

    for (const name of ['deliveries', 'sessions', 'tokens'])
      test(`${name}: count by the clock of the machine, also where that of the database stays right`, async () => {
        const { store } = its;
        const time = timeNow();
        const stored = new StoredTimes({ store, clock: time.clock });
        await stored.lookOnce();
        const { put, table, becomes } = CASES[name] ?? assert.fail(name);
        await put(store, time.now());
        time.jump(-AHEAD_MS);
        assert.ok((await stored.lookOnce()) > 0);
        const rows = await rowsOf(store, table);
        assert.ok(rows.length > 0);
        for (const row of rows)
          for (const [column, ms] of Object.entries(becomes)) assert.equal(row[column], time.now() + ms, column);
      });

    test('A daemon that starts with a clock that is behind, and is set soon, changes nothing', async () => {
      const { store } = its;
      await gate(store, { ttlMs: HOUR_MS });
      const before = await rowsOf(store, 'approvals');
      const time = timeNow(-AHEAD_MS);
      const stored = new StoredTimes({ store: storeAt(store, time), clock: time.clock });
      await stored.lookOnce();
      time.pass(SETTLE_MS - 1);
      await stored.lookOnce();
      time.jump(AHEAD_MS);
      time.pass(1);
      assert.equal(await stored.lookOnce(), 0);
      assert.deepEqual(await rowsOf(store, 'approvals'), before);
    });

    test('The job of an approval shows its new deadline, and what was tagged still is', async () => {
      const { store } = its;
      await gate(store, { ttlMs: HOUR_MS });
      await CASES['sessions']!.put(store, Date.now());
      await store.write(({ db }) => db.updateTable('tokens').set({ name: 'other' }).execute());
      const { time, look } = setBack(store);
      await look();
      const [job] = await rowsOf(store, 'jobs');
      assert.equal(job?.['expires_at'], time.now() + HOUR_MS);
      for (const table of ['approvals', 'sessions'] as const)
        for (const row of await store.db.selectFrom(table).selectAll().execute())
          assert.ok(isTagged(TEST_RING, table, row), table);
    });

    test('A row that somebody else wrote gets no tag by it', async () => {
      const { store } = its;
      await gate(store, { ttlMs: HOUR_MS });
      await store.write(({ db }) =>
        db
          .updateTable('approvals')
          .set({ owners: toJson(['eve']) })
          .execute(),
      );
      await setBack(store).look();
      const [row] = await store.db.selectFrom('approvals').selectAll().execute();
      assert.equal(isTagged(TEST_RING, 'approvals', row!), false);
    });

    test('Daemons that look at the same time correct each row once', async () => {
      const { store } = its;
      for (let n = 0; n < 20; n += 1) await gate(store, { ttlMs: HOUR_MS, planned: false });
      const other = await its.database.open();
      const looks = await Promise.all([store, other, store, other].map((each) => setBack(each).look()));
      assert.equal(
        looks.reduce((sum, rows) => sum + rows, 0),
        20,
      );
    });

    test('A session that has expired is gone: no clock makes it valid again', async () => {
      const { store } = its;
      await CASES['sessions']!.put(store, Date.now());
      const time = timeNow(13 * HOUR_MS);
      await new StoredTimes({ store: storeAt(store, time), clock: time.clock }).lookOnce();
      assert.deepEqual(await rowsOf(store, 'sessions'), []);
    });

    test('A silence that was cut with its rule is over, and stops nothing again', async () => {
      const { store } = its;
      await CASES['silences']!.put(store, Date.now());
      await store.write(({ db }) =>
        db
          .updateTable('silences')
          .set((column) => ({ expires_at: column.ref('created_at') }))
          .execute(),
      );
      const { time, look } = setBack(store);
      await look();
      const [row] = await rowsOf(store, 'silences');
      assert.equal(row?.['expires_at'], time.now());
    });
  });
}
