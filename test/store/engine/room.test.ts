/** The room that a database takes, and how its file becomes smaller. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { giveBack } from '../../../src/daemon/maintenance/forget.ts';
import { examineRetention } from '../../../src/doctor/maintenance/retention.ts';
import type { Facts } from '../../../src/doctor/entry.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { toJson } from '../../../src/lib/json.ts';
import { putEvents } from '../../support/fixtures/events.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const DAY_MS = 86_400_000;
/** Pauses between steps, which leave the store to others, are over at once. */
const RESTLESS: Clock = { ...systemClock, after: (_ms, fire) => systemClock.after(0, fire) };
/** More than the free room that a file keeps. */
const LARGE_ROWS = 40;
const LARGE_CHARACTERS = 1_000_000;

for (const engine of ENGINES) {
  describe(`The room of a database on ${engine.name}`, () => {
    const its = freshStore(engine);
    const examine = (clock = systemClock) =>
      examineRetention({
        clock,
        openedStore: () => its.store,
        settings: { keepJobsMs: 90 * DAY_MS, keepEventsMs: 90 * DAY_MS },
      } as unknown as Facts);

    test('is reported by the doctor, with the rows that will be deleted', async () => {
      const { status, detail } = await examine();
      assert.equal(status, 'ok');
      assert.match(
        detail,
        /^jobs about 0 rows.*events about \d+ rows.* in all, .* free\. No old rows were deleted yet\.$/,
      );
      await putEvents(its.store, [{ id: `evt_${'0'.repeat(26)}` }, {}]);
      assert.match((await examine()).detail, /From \S+ on, up to 1 events are deleted; --keep-jobs/);
      await its.store.write(({ db }) =>
        db
          .insertInto('retention')
          .values({ name: 'events', daemon_id: 'dmn_a', turn_until: 0, shortened_at: 0, deleted: 3 })
          .execute(),
      );
      assert.match((await examine()).detail, /last deleted: events 1970-01-01T00:00:00.000Z \(3 in all\)\./);
    });

    test('is given back in small steps, but for what the next rows take', async () => {
      const rows = Array.from({ length: LARGE_ROWS }, () => ({ trace: toJson(['x'.repeat(LARGE_CHARACTERS)]) }));
      await putEvents(its.store, rows);
      const full = await its.store.dialect.fileSize(its.store.db);
      await its.store.write(({ db }) => db.deleteFrom('events').execute());
      await giveBack({ store: its.store, clock: RESTLESS, self: () => 'dmn_a' }, undefined);
      const { bytes, freeBytes, cannotShrink } = await its.store.dialect.fileSize(its.store.db);
      assert.equal(cannotShrink, false);
      const { location } = its.database;
      if (!('file' in location)) return;
      assert.ok(full.bytes > LARGE_ROWS * LARGE_CHARACTERS);
      assert.ok(freeBytes <= 16 * 2 ** 20 && freeBytes > 15 * 2 ** 20, String(freeBytes));
      assert.ok(bytes < 20 * 2 ** 20, String(bytes));
    });
  });
}
