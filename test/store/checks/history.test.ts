/** The history of targets: written by the sweep, read for pages, kept for a time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CHECK_DAYS, CHECK_SLOTS_DAYS, retainOnce } from '../../../src/daemon/maintenance/retention.ts';
import { DAY_MS, decodeDay, gather, type Gathered, SLOT_MS } from '../../../src/domain/checks/sweep/day.ts';
import { compileNetgroups } from '../../../src/domain/netgroups/netgroup.ts';
import { checkWithHistory } from '../../../src/operations/checks/history-view.ts';
import { getCheck } from '../../../src/store/checks/checks.ts';
import { addHistory, listDays, readAvailability } from '../../../src/store/checks/history.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { HandClock } from '../../support/clock.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const TODAY = 20_780;

function observed(from: number, readings: readonly ('up' | 'down' | 'missed')[]): Gathered[] {
  const gathered: Gathered[] = [];
  for (const [index, reading] of readings.entries())
    gather(gathered, { at: from + index * 60_000, reading, isSnoozed: false, durationMs: 7 });
  return gathered;
}

function add(store: Store, gathered: readonly Gathered[], target = 'a', check = 'web'): Promise<void> {
  return store.write((tx) => addHistory(tx, check, target, gathered));
}

for (const engine of ENGINES) {
  describe(`The history of checks on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('adds what several daemons saw to the same day', async () => {
      const { store } = its;
      const midnight = TODAY * DAY_MS;
      await add(store, observed(midnight - 2 * 60_000, ['up', 'down', 'up', 'missed']));
      await add(store, observed(midnight + SLOT_MS, ['up']));
      await add(store, observed(midnight, ['up']), 'b');
      const days = await listDays(store.db, 'web', TODAY - 1, TODAY);
      assert.deepEqual(
        days.map(({ name, day, up, down, missed, slots }) => [name, day - TODAY, up, down, missed, slots === null]),
        [
          ['a', -1, 1, 1, 0, true],
          ['a', 0, 2, 0, 1, false],
          ['b', 0, 1, 0, 0, false],
        ],
      );
      const { slots } = decodeDay(days[1]!.slots!);
      assert.deepEqual([slots[0]?.up, slots[0]?.missed, slots[1]?.up, slots[2]?.up], [1, 1, 1, 0]);
      assert.deepEqual(await listDays(store.db, 'other', 0, 0), []);
    });

    test('is read as the availability of each target', async () => {
      const { store } = its;
      const now = TODAY * DAY_MS + 3 * SLOT_MS;
      await add(store, observed(now - 10 * 60_000, ['up', 'up', 'down', 'up']));
      await add(store, observed(now - 40 * DAY_MS, ['down', 'down', 'down', 'down']));
      const found = await readAvailability(store.db, 'web', now);
      const { uptime, strip, durations } = found.get('a')!;
      assert.deepEqual([...found.keys()], ['a']);
      const since = (TODAY - 40) * DAY_MS;
      assert.deepEqual(uptime, { day: 0.75, week: 0.75, month: 0.75, quarter: 0.375, since });
      assert.deepEqual([strip[46]?.up, strip[46]?.down, strip[47]], [3, 1, null]);
      const p50 = durations?.p50 ?? 0;
      assert.ok(p50 > 7 / 1.25 && p50 < 7 * 1.25, `${p50}`);
    });

    test('is shown with one check, for the targets that have one', async () => {
      const { store } = its;
      const now = TODAY * DAY_MS + 3 * SLOT_MS;
      await putCheck(store, 'web', ['a', 'new']);
      await add(store, observed(now - 10 * 60_000, ['up', 'up', 'down', 'up']));
      await add(store, observed(now - 20 * SLOT_MS, ['missed']));
      const row = await getCheck(store.db, 'web');
      const { targets } = await checkWithHistory(store.db, row, { now, netgroups: compileNetgroups([]) });
      const [a, fresh] = targets;
      assert.equal(fresh?.history, undefined);
      assert.deepEqual([a?.history?.uptime_24h, a?.history?.uptime_90d], [0.75, 0.75]);
      assert.ok(a?.history?.p50_ms !== null);
      const marks = a?.history?.half_hours ?? [];
      assert.equal(marks.length, 48);
      assert.deepEqual(
        marks.flatMap((mark, index) => (mark === 'none' ? [] : [[index, mark]])),
        [
          [27, 'missed'],
          [46, 'down'],
        ],
      );
    });

    test('keeps half hours for some days, counts for longer, and nothing of a target that is gone', async () => {
      const { store } = its;
      await putCheck(store, 'web', ['a']);
      const clock = new HandClock(TODAY * DAY_MS + 3_600_000);
      for (const ago of [0, CHECK_SLOTS_DAYS, CHECK_SLOTS_DAYS + 1, CHECK_DAYS, CHECK_DAYS + 1])
        await add(store, observed((TODAY - ago) * DAY_MS, ['up']));
      await add(store, observed(TODAY * DAY_MS, ['up']), 'gone');
      const { did } = await retainOnce({
        store,
        clock,
        keep: { jobsMs: 0, eventsMs: 0, notificationsMs: 0 },
        self: () => 'dmn_a',
      });
      assert.equal(did?.['check_days'], 1);
      const days = await listDays(store.db, 'web', 0, 0);
      assert.deepEqual(
        days.map(({ name, day, slots }) => [name, TODAY - day, slots !== null]),
        [
          ['a', CHECK_DAYS, false],
          ['a', CHECK_SLOTS_DAYS + 1, false],
          ['a', CHECK_SLOTS_DAYS, true],
          ['a', 0, true],
        ],
      );
    });

    test('is written by the sweep every ten minutes and at its end, and removed with a target', async () => {
      const { store } = its;
      await putCheck(store, 'web', ['a', 'b']);
      const { sweep, pass, clock, down } = sweepFixture(store);
      const today = Math.floor(clock.now() / DAY_MS);
      const counts = async (): Promise<string[]> =>
        (await listDays(store.db, 'web', today, today)).map((day) => `${day.name} ${day.up} ${day.down}`);
      await pass(590_000, 1_000);
      assert.deepEqual(await counts(), []);
      await pass(20_000, 1_000);
      assert.deepEqual(
        (await counts()).map((text) => text.replace(/\d+ 0$/, 'some')),
        ['a some', 'b some'],
      );
      down.add('web/b');
      await putCheck(store, 'web', ['b']);
      await pass(20_000, 1_000);
      await sweep.stop();
      const [count = '', ...rest] = await counts();
      assert.deepEqual(rest, []);
      const [name, up, failed] = count.split(' ');
      assert.deepEqual([name, failed], ['b', '2']);
      assert.ok(Number(up) >= 60 && Number(up) <= 62, count);
    });
  });
}
