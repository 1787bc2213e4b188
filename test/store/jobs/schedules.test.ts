/**
 * The slots of schedules on each database: each is taken once, by whichever daemon, however often it looks and however
 * the clock jumps.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import {
  addSchedule,
  timeFrom,
  MINUTE,
  HOUR,
  YEAR,
  daemon,
  jobs,
  slotsRun,
  nextOf,
} from '../../support/fixtures/schedules.ts';
import { ENGINES, type TestDatabase, wipe } from '../engine-fixture.ts';

for (const engine of ENGINES) {
  describe(`Schedules on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let other: Store;
    before(async () => {
      database = await engine.create();
      [store, other] = [await database.open(), await database.open()];
    });
    after(() => database.remove());
    afterEach(() => wipe(store));

    test('F10: of 200 slots that two daemons race for, each is taken once', async () => {
      const time = timeFrom('2026-11-21T03:00:00.500Z');
      for (let n = 0; n < 200; n += 1)
        await addSchedule(store, { name: `s${n}`, next_at: Date.parse('2026-11-21T03:00:00Z') });
      await Promise.all([daemon(store, time).sweepOnce(), daemon(other, time).sweepOnce()]);
      const made = await jobs(store);
      const rows = await store.db.selectFrom('schedules').selectAll().execute();
      assert.equal(made.length, 200);
      assert.deepEqual(new Set(rows.map((row) => row.last_job_id)), new Set(made.map(({ id }) => id)));
      assert.ok(
        rows.every(
          (row) =>
            row.next_at === Date.parse('2026-11-22T03:00:00Z') && row.last_at === Date.parse('2026-11-21T03:00:00Z'),
        ),
      );
      assert.equal((await slotsRun(store)).length, 200);
    });

    test('F10: two daemons, one of which restarts each time, take each of 50 minutes once', async () => {
      const time = timeFrom('2026-11-21T02:59:30Z');
      await addSchedule(store, { cron: '* * * * *', next_at: Date.parse('2026-11-21T03:00:00Z') });
      const steady = daemon(store, time);
      for (let n = 0; n < 50; n += 1) {
        time.pass(MINUTE);
        await Promise.all([steady.sweepOnce(), daemon(other, time).sweepOnce()]);
      }
      const minutes = Array.from({ length: 50 }, (_, n) => `2026-11-21T03:${String(n).padStart(2, '0')}`);
      assert.deepEqual(await slotsRun(store), minutes);
      assert.equal((await jobs(store)).length, 50);
    });

    test('Nothing runs before its time, and a pass returns the time until then', async () => {
      const time = timeFrom('2026-11-21T02:59:58Z');
      const look = daemon(store, time);
      assert.equal(await look.sweepOnce(), null);
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      assert.equal(await look.sweepOnce(), 2_000);
      time.pass(1_400);
      assert.equal(await look.sweepOnce(), 600);
      assert.deepEqual(await jobs(store), []);
      time.pass(600);
      await look.sweepOnce();
      assert.equal((await jobs(store)).length, 1);
    });

    test('F10: one run makes up for all slots without a daemon, and the next start makes none', async () => {
      const time = timeFrom('2026-11-21T09:20:00Z');
      await addSchedule(store, { cron: '0 * * * *', next_at: Date.parse('2026-11-21T03:00:00Z') });
      await daemon(store, time).sweepOnce();
      assert.deepEqual(await slotsRun(store), ['2026-11-21T03:00']);
      assert.equal(await nextOf(store), '2026-11-21T10:00');
      await daemon(other, time).sweepOnce();
      assert.equal((await jobs(store)).length, 1);
    });

    test('F10: a daemon that dies before the write is durable leaves the slot to the next one', async () => {
      const time = timeFrom('2026-11-21T03:00:01Z');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      const dying: Store = {
        ...store,
        write: (work) =>
          store.write(async (tx) => {
            await work(tx);
            throw new Error('the power went');
          }),
      };
      await assert.rejects(daemon(dying, time).sweepOnce(), /the power went/);
      assert.deepEqual([await jobs(store), await nextOf(store)], [[], '2026-11-21T03:00']);
      await daemon(other, time).sweepOnce();
      assert.equal((await jobs(store)).length, 1);
    });

    test('F10: a clock that jumps two hours ahead and back runs nothing twice and leaves nothing out', async () => {
      const time = timeFrom('2026-11-21T01:30:00Z');
      await addSchedule(store, { cron: '0 * * * *', next_at: Date.parse('2026-11-21T02:00:00Z') });
      const look = daemon(store, time);
      await look.sweepOnce();
      time.jump(2 * HOUR);
      for (let n = 0; n < 3; n += 1) await look.sweepOnce();
      assert.deepEqual([await slotsRun(store), await nextOf(store)], [['2026-11-21T02:00'], '2026-11-21T04:00']);
      time.jump(-2 * HOUR);
      await look.sweepOnce();
      assert.deepEqual([(await jobs(store)).length, await nextOf(store)], [1, '2026-11-21T03:00']);
      for (let n = 0; n < 6; n += 1) {
        time.pass(HOUR / 2);
        await look.sweepOnce();
      }
      assert.deepEqual(await slotsRun(store), ['2026-11-21T02:00', '2026-11-21T03:00', '2026-11-21T04:00']);
    });

    test('F10: a clock that falls back two hours behind a slot does not run that again', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      const look = daemon(store, time);
      await look.sweepOnce();
      time.jump(-2 * HOUR);
      for (let n = 0; n < 5; n += 1) {
        await look.sweepOnce();
        await daemon(other, time).sweepOnce();
        time.pass(HOUR);
      }
      assert.deepEqual([await slotsRun(store), await nextOf(store)], [['2026-11-21T03:00'], '2026-11-22T03:00']);
    });

    test('F10: a jump of ten years ahead runs a slot once, and after the jump back schedules run again', async () => {
      const time = timeFrom('2026-11-21T01:30:00Z');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      const look = daemon(store, time);
      await look.sweepOnce();
      time.jump(10 * YEAR);
      for (let n = 0; n < 3; n += 1) {
        await look.sweepOnce();
        time.pass(24 * HOUR);
      }
      assert.equal((await jobs(store)).length, 3);
      time.jump(-10 * YEAR);
      await look.sweepOnce();
      assert.equal(await nextOf(store), '2026-11-24T03:00');
      assert.equal((await jobs(store)).length, 3);
    });

    test('F10: through the nights in which the clock is set forward and back each day runs once', async () => {
      for (const [start, slots] of [
        ['2027-03-27T12:00:00Z', ['2027-03-28T01:00', '2027-03-29T00:30']],
        ['2027-10-30T12:00:00Z', ['2027-10-31T00:30', '2027-11-01T01:30']],
      ] as const) {
        const time = timeFrom(start);
        await addSchedule(store, { cron: '30 2 * * *', timezone: 'Europe/Berlin' });
        const look = daemon(store, time);
        for (let n = 0; n < 96; n += 1) {
          await look.sweepOnce();
          time.pass(HOUR / 2);
        }
        assert.deepEqual(await slotsRun(store), slots);
        await wipe(store);
      }
    });
  });
}
