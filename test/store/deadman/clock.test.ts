/** F10: what a clock that jumps does to watches, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DeadmanWatch } from '../../../src/daemon/deadman/deadman.ts';
import { StoredTimes } from '../../../src/daemon/maintenance/stored-times.ts';
import { insertWatch } from '../../../src/store/deadman/watches.ts';
import { insertWebhook, markHeard } from '../../../src/store/events/webhooks.ts';
import type { Store } from '../../../src/store/store.ts';
import { storeAt } from '../../support/fixtures/schedules.ts';
import { DAY_MS, timeNow } from '../clock/stored-cases.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const EVERY_MS = 600_000;

async function addWatch(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await insertWebhook(tx, { name: 'dog', source: 'generic', hash: 'h', created_at: tx.now, last_heard_at: null });
    await insertWatch(tx, { name: 'alive', webhook: 'dog', every_ms: EVERY_MS, added_by: 'ana' });
    await markHeard(tx, 'h');
  });
}

/** The notifications of watches, oldest first. */
async function reported(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('pages').select('detail').orderBy('id').execute();
  return rows.map(({ detail }) => ((JSON.parse(detail) as { heard: boolean }).heard ? 'heard' : 'silent'));
}

for (const engine of ENGINES) {
  describe(`F10: A clock that was set ahead, on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('makes no watch silent: a silence counts from the jump on, and a real one is reported', async () => {
      const { store } = its;
      await addWatch(store);
      const time = timeNow();
      const deadman = new DeadmanWatch({ store: storeAt(store, time), clock: time.clock, wakeUp: () => undefined });
      await deadman.watchOnce();
      time.jump(DAY_MS);
      await deadman.watchOnce();
      time.pass(EVERY_MS - 1);
      await deadman.watchOnce();
      assert.deepEqual(await reported(store), []);
      time.pass(1);
      await deadman.watchOnce();
      assert.deepEqual(await reported(store), ['silent']);
    });

    test('and back makes no watch blind: one that is heard says so, and a silence is reported', async () => {
      const { store } = its;
      await addWatch(store);
      // The daemon started with a clock that was ahead: it cannot know that there was no silence.
      const time = timeNow(DAY_MS);
      const deps = { store: storeAt(store, time), clock: time.clock, wakeUp: () => undefined };
      const [deadman, stored] = [new DeadmanWatch(deps), new StoredTimes(deps)];
      const look = async (): Promise<string[]> => {
        await stored.lookOnce();
        await deadman.watchOnce();
        return reported(store);
      };
      assert.deepEqual(await look(), ['silent']);
      time.jump(-DAY_MS);
      assert.deepEqual(await look(), ['silent', 'heard']);
      time.pass(EVERY_MS);
      assert.deepEqual(await look(), ['silent', 'heard', 'silent']);
    });
  });
}
