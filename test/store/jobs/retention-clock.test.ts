/** F35: a clock that is ten years ahead for a while costs no row, and what it dated is no obstacle afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockWatch } from '../../../src/daemon/maintenance/clock-watch.ts';
import { type RetentionDeps, retentionLoop } from '../../../src/daemon/maintenance/retention.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { putEvents } from '../../support/fixtures/events.ts';
import { openTestStore } from '../../support/store/job-store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TEN_YEARS_MS = 3_653 * DAY_MS;
const FAR_MS = Date.now() + TEN_YEARS_MS;
const KEPT_MS = 90 * DAY_MS;

test('F35: a clock that is ten years ahead for a while deletes nothing, and retention continues', async (t) => {
  const on = await openTestStore();
  t.after(() => on.close());
  let [ahead, passed] = [0, 8 * DAY_MS];
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + passed + ahead,
    monotonic: () => systemClock.monotonic() + passed,
  };
  const keep = { jobsMs: KEPT_MS, eventsMs: KEPT_MS, notificationsMs: KEPT_MS };
  const deps: RetentionDeps = {
    store: on.store,
    clock,
    keep,
    self: () => 'dmn_a',
    clockWatch: new ClockWatch(clock, null),
  };
  // The clock was ahead when the store was upgraded, too.
  await on.store.write(({ db }) => db.updateTable('schema_migrations').set({ applied_at: FAR_MS }).execute());
  const put = async (at: number): Promise<string> => {
    const id = newId('evt', at);
    await putEvents(on.store, [{ id, received_at: at }]);
    return id;
  };
  const pass = async (): Promise<string[]> => {
    passed += HOUR_MS;
    await retentionLoop(deps).once(new AbortController().signal);
    return (await on.store.db.selectFrom('events').select('id').orderBy('id').execute()).map(({ id }) => id);
  };
  const old = await put(clock.now() - KEPT_MS + 5 * DAY_MS);
  const young = await put(clock.now());
  assert.deepEqual(await pass(), [old, young]);

  ahead = TEN_YEARS_MS;
  const future = await put(clock.now());
  assert.deepEqual(await pass(), [old, young, future], 'all are old by this clock');
  ahead = 0;
  passed += 6 * DAY_MS;
  assert.deepEqual(await pass(), [old, young, future], 'a week has not passed');
  passed += DAY_MS;
  assert.deepEqual(await pass(), [young, future], 'what is old now is deleted');
});
