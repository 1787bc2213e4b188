/** Dead-man watches on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEADMAN_EVERY_MS, type DeadmanDeps, DeadmanWatch } from '../../../src/daemon/deadman/deadman.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { HandClock } from '../../support/clock.ts';
import { insertWatch, listWatches } from '../../../src/store/deadman/watches.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertWebhook, markHeard } from '../../../src/store/events/webhooks.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

async function addWatch(store: Store): Promise<void> {
  await store.write((tx) =>
    insertWebhook(tx, { name: 'dog', source: 'generic', hash: 'hash of dog', created_at: tx.now, last_heard_at: null }),
  );
  await store.write((tx) => insertWatch(tx, { name: 'alive', webhook: 'dog', every_ms: EVERY_MS, added_by: 'ana' }));
}

const hear = (store: Store): Promise<void> => store.write((tx) => markHeard(tx, 'hash of dog'));

/** The recorded notifications, oldest first. */
async function recorded(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('pages').select('detail').orderBy('id').execute();
  return rows.map(({ detail }) => ((JSON.parse(detail) as { heard: boolean }).heard ? 'heard' : 'silent'));
}

/** Puts all that is noted of watches so far into the past: the clock of a database can't be set. */
async function pass(store: Store, ms: number): Promise<void> {
  await store.write(async ({ db }) => {
    await db
      .updateTable('deadmen')
      .set(({ eb }) => ({ created_at: eb('created_at', '-', ms), tripped_at: eb('tripped_at', '-', ms) }))
      .execute();
    await db
      .updateTable('webhooks')
      .set(({ eb }) => ({ last_heard_at: eb('last_heard_at', '-', ms) }))
      .execute();
  });
}

const shifted = (offsetMs: number) => ({ ...systemClock, now: () => systemClock.now() + offsetMs });
const daemon = (store: Store, some: Partial<DeadmanDeps> = {}): DeadmanDeps => ({
  store,
  clock: systemClock,
  wakeUp: () => undefined,
  ...some,
});

for (const engine of ENGINES) {
  describe(`Dead-man watches on ${engine.name}`, () => {
    const its = freshStore(engine);

    async function look(deps: DeadmanDeps): Promise<string[]> {
      const watch = new DeadmanWatch(deps);
      for (let i = 0; i < 3; i += 1) await watch.watchOnce();
      return recorded(its.store);
    }

    test('notify once when their webhook is silent for too long, and once when it is heard again', async () => {
      assert.equal(DEADMAN_EVERY_MS, 1_000);
      const { store } = its;
      const deps = daemon(store);
      await addWatch(store);
      await pass(store, EVERY_MS - 10_000);
      assert.deepEqual(await look(deps), []);
      await pass(store, 10_000);
      assert.deepEqual(await look(deps), ['silent']);
      await pass(store, HOUR_MS);
      assert.deepEqual(await look(deps), ['silent']);
      await hear(store);
      assert.deepEqual(await look(deps), ['silent', 'heard']);
      await pass(store, EVERY_MS - 10_000);
      assert.deepEqual(await look(deps), ['silent', 'heard']);
      await pass(store, 10_000);
      assert.deepEqual(await look(deps), ['silent', 'heard', 'silent']);
    });

    test('are not prolonged by restarts: a daemon that restarts within each silence still reports it', async () => {
      const { store } = its;
      await addWatch(store);
      await hear(store);
      for (let restart = 0; restart < 6; restart += 1) {
        // Each start has its own monotonic clock, which begins at 0.
        const clock = new HandClock(Date.now());
        clock.monotonicMs = 0;
        await pass(store, EVERY_MS / 6 - (restart === 0 ? 1_000 : 0));
        if (restart < 5) assert.deepEqual(await look(daemon(store, { clock })), [], `restart ${restart}`);
      }
      await pass(store, 1_000);
      assert.deepEqual(await look(daemon(store)), ['silent']);
      await hear(store);
      assert.deepEqual(await look(daemon(store)), ['silent', 'heard']);
    });

    // Daemons that share a file share a machine and its clock.
    const apartMs = engine.name === 'SQLite' ? 0 : HOUR_MS;
    for (const [who, offsetMs] of [
      ['before', apartMs],
      ['behind', -apartMs],
    ] as const) {
      test(`use one clock where the clock of the receiving daemon is ${who} that of the watching one`, async () => {
        const ingress = await its.database.open({ daemonId: 'dmn_in', clock: shifted(offsetMs) });
        const clock = shifted(-offsetMs);
        const deps = daemon(await its.database.open({ daemonId: 'dmn_watch', clock }), { clock });
        await addWatch(ingress);
        assert.deepEqual(await look(deps), []);
        await hear(ingress);
        await pass(ingress, EVERY_MS - 10_000);
        assert.deepEqual(await look(deps), []);
        await pass(ingress, 10_000);
        assert.deepEqual(await look(deps), ['silent']);
        await hear(ingress);
        assert.deepEqual(await look(deps), ['silent', 'heard']);
      });
    }

    test('do not notify if a message arrives between the check and the write', async () => {
      const { store } = its;
      await addWatch(store);
      for (const known of ['never', 'once']) {
        await pass(store, EVERY_MS);
        const late: Store = { ...store, write: (work, options) => hear(store).then(() => store.write(work, options)) };
        await new DeadmanWatch(daemon(late)).watchOnce();
        assert.deepEqual(await recorded(store), [], known);
      }
    });

    test('are heard again by a message that was received before they tripped and committed after it', async () => {
      const { store } = its;
      await addWatch(store);
      await pass(store, EVERY_MS);
      assert.deepEqual(await look(daemon(store)), ['silent']);
      const [watch] = await listWatches(store.db);
      await store.write(({ db }) =>
        db
          .updateTable('webhooks')
          .set({ last_heard_at: watch!.tripped_at! - 5 })
          .execute(),
      );
      assert.deepEqual(await look(daemon(store)), ['silent', 'heard']);
    });

    test('notify once, whichever of two daemons sees the silence first', async () => {
      const { store } = its;
      const other = await its.database.open({ daemonId: 'dmn_other' });
      await addWatch(store);
      await pass(store, EVERY_MS);
      await Promise.all([store, other, store, other].map((each) => new DeadmanWatch(daemon(each)).watchOnce()));
      assert.deepEqual(await recorded(store), ['silent']);
      await hear(store);
      await Promise.all([store, other, store, other].map((each) => new DeadmanWatch(daemon(each)).watchOnce()));
      assert.deepEqual(await recorded(store), ['silent', 'heard']);
    });
  });
}
