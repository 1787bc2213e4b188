/** What the status page says of checks, from the stored state and history of their targets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY_MS, gather, type Gathered } from '../../../src/domain/checks/sweep/day.ts';
import { boardReader } from '../../../src/operations/checks/status-board.ts';
import { addHistory } from '../../../src/store/checks/history.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck } from '../../support/checks/sweep-fixture.ts';
import { HandClock } from '../../support/clock.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

function setStatus(store: Store, check: string, target: string, status: 'up' | 'down'): Promise<unknown> {
  return store.write(({ db }) =>
    db
      .updateTable('check_targets')
      .set({ status })
      .where('check_name', '=', check)
      .where('name', '=', target)
      .executeTakeFirst(),
  );
}

function observe(store: Store, target: string, at: number, readings: readonly ('up' | 'down')[]): Promise<void> {
  const gathered: Gathered[] = [];
  for (const [i, reading] of readings.entries())
    gather(gathered, { at: at + i * 1_000, reading, isSnoozed: false, durationMs: 1 });
  return store.write((tx) => addHistory(tx, 'web', target, gathered));
}

for (const engine of ENGINES)
  describe(`The status board on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('has a state for each check, and shares of all of its targets together', async () => {
      const { store } = its;
      const clock = new HandClock(await store.dialect.clock(store.db, Date.now()));
      await putCheck(store, 'web', ['a', 'b']);
      await putCheck(store, 'off', ['a'], { enabled: 0 });
      const read = boardReader(store, clock, ['web', 'off', 'gone']);
      const states = async (): Promise<string> => (await read()).map(({ state }) => state).join(' ');
      assert.equal(await states(), 'unknown unknown unknown');
      await setStatus(store, 'web', 'a', 'up');
      await setStatus(store, 'off', 'a', 'up');
      assert.equal(await states(), 'up unknown unknown');
      await setStatus(store, 'web', 'b', 'down');
      assert.equal(await states(), 'partly unknown unknown');
      await setStatus(store, 'web', 'a', 'down');
      assert.equal(await states(), 'down unknown unknown');

      const now = clock.now();
      await observe(store, 'a', now - 60_000, ['up', 'up', 'up']);
      await observe(store, 'b', now - 60_000, ['down']);
      await observe(store, 'b', now - 20 * DAY_MS, ['down', 'down', 'down', 'down']);
      assert.equal((await read())[0]?.uptime?.day, null, 'the history is not read each time');
      clock.advance(300_000);
      const [web, ...others] = await read();
      const since = Math.floor((now - 20 * DAY_MS) / DAY_MS) * DAY_MS;
      assert.deepEqual(web?.uptime, { day: 0.75, week: 0.75, month: 0.375, quarter: 0.375, since });
      assert.deepEqual(
        others.map(({ uptime }) => uptime),
        [null, null],
      );
    });
  });
