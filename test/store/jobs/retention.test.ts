/** What is forgotten, on each database: what is old and over, and nothing that could be asked for again. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { collectNotifications } from '../../../src/daemon/notify/collect.ts';
import { FIRES_KEPT_MS, retainOnce } from '../../../src/daemon/maintenance/retention.ts';
import type { NotificationFacts } from '../../../src/domain/notifications.ts';
import { readRuleFile } from '../../../src/domain/rules/file.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { recordFire } from '../../../src/store/events/events.ts';
import { insertNotification, requestNotification } from '../../../src/store/notify/notifications.ts';
import type { DeliveryRow, NotificationRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { enqueue, ENGINES, type TestDatabase } from '../engine-fixture.ts';

const TABLES = ['pages', 'deliveries', 'jobs', 'approvals', 'rule_fires', 'rules'] as const;
const NOTIFICATIONS_KEPT_MS = 30 * 86_400_000;
const KEEP = { jobsMs: 0, eventsMs: 0, notificationsMs: NOTIFICATIONS_KEPT_MS };
const HOUR_MS = 3_600_000;

const notificationCount = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('pages').select('id').execute()).length;
const deliveryCount = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('deliveries').select('target').execute()).length;

for (const engine of ENGINES) {
  describe(`What is forgotten on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let other: Store;
    const began = Date.now();
    let now = began;
    const clock = { ...systemClock, now: () => now };
    const retain = (signal?: AbortSignal, of = store): ReturnType<typeof retainOnce> =>
      retainOnce({ store: of, clock, keep: KEEP, self: () => 'dmn_a' }, signal);
    const add = (topic: string, state: NotificationRow['state'] = 'done', targets = 0): Promise<string> =>
      store.write(async (tx) => {
        const id = newId('page', tx.now);
        await insertNotification(
          tx,
          { id, topic, facts: { kind: 'test', by: 'ana' } },
          { state, reason: null, followed: 0 },
        );
        const row = (n: number): DeliveryRow => ({
          page_id: id,
          target: `transport:${n}`,
          state: 'sent',
          daemon_id: 'dmn_a',
          attempts: 1,
          next_at: 0,
          failure: null,
          settled_at: now,
        });
        if (targets > 0)
          await tx.db
            .insertInto('deliveries')
            .values(Array.from({ length: targets }, (_, n) => row(n)))
            .execute();
        return id;
      });
    const jobNotification = (jobId: string) =>
      store.write((tx) =>
        insertNotification(
          tx,
          { topic: `job:${jobId}`, facts: { kind: 'job', jobId, runbook: 'x', state: 'failed', exitCode: 1 } },
          { state: 'done', reason: null, followed: 0 },
        ),
      );
    const markNotified = (jobId: string) =>
      store.write(({ db }) =>
        db.updateTable('jobs').set({ state: 'failed', outcome_event_id: 'evt_1' }).where('id', '=', jobId).execute(),
      );
    const fire = (fingerprint: string, firedAt: number, jobId: string | null = null) =>
      store.write(async (tx) => recordFire(tx, { rule: 'r', fingerprint, status: 'firing', firedAt, jobId }));
    const fires = async (): Promise<string[]> =>
      (await store.db.selectFrom('rule_fires').select('fingerprint').orderBy('fingerprint').execute()).map(
        (row) => row.fingerprint,
      );

    before(async () => {
      database = await engine.create();
      [store, other] = [await database.open({ clock }), await database.open({ clock })];
    });
    after(() => database.remove());
    beforeEach(async () => {
      now = began;
      await store.write(async ({ db }) => {
        for (const table of TABLES) await db.deleteFrom(table).execute();
      });
    });

    test('are notifications that are done or muted, with their deliveries, after their time, not before', async () => {
      await add('sent', 'done', 3);
      await add('held', 'held');
      await add('new', 'new');
      await add('sending', 'sending', 1);
      now += NOTIFICATIONS_KEPT_MS;
      await retain();
      assert.deepEqual([await notificationCount(store), await deliveryCount(store)], [4, 4]);
      now += 1;
      const young = await add('young', 'done', 1);
      await retain();
      const left = await store.db.selectFrom('pages').select(['id', 'state']).orderBy('id').execute();
      assert.deepEqual(
        left.map(({ state }) => state),
        ['new', 'sending', 'done'],
      );
      assert.equal(left.at(-1)?.id, young);
      assert.equal(await deliveryCount(store), 2);
    });

    test('is no notification of an approval that waits or whose outcome is not sent: none is made twice', async () => {
      const target = [{ id: 'notify:ops#0', name: 'ops', key: '0', label: 'ntfy at ntfy.test' }];
      const { approval, jobId } = await gate(store, { planned: false, ttlMs: 100 * 86_400_000 });
      const onError = assert.ifError;
      const sweep = () =>
        collectNotifications({ store, clock, self: () => 'dmn_a', transports: () => target, onError });
      await sweep();
      await store.write(({ db }) => db.updateTable('pages').set({ state: 'done' }).execute());
      now += NOTIFICATIONS_KEPT_MS + HOUR_MS;
      await retain();
      assert.equal(await notificationCount(store), 1);
      await sweep();
      assert.equal(await notificationCount(store), 1, 'it is not asked for again');
      await store.write(({ db }) =>
        db
          .updateTable('approvals')
          .set({ state: 'rejected', decided_by: 'ben', decided_via: 'api' })
          .where('id', '=', approval.id)
          .execute(),
      );
      await markNotified(jobId);
      await retain();
      assert.equal(await notificationCount(store), 1);
      await sweep();
      await retain();
      assert.deepEqual(
        (await store.db.selectFrom('pages').select('kind').execute()).map(({ kind }) => kind),
        ['decided'],
      );
      await sweep();
      assert.equal(await notificationCount(store), 1, 'neither is its outcome');
    });

    test('is no notification of a pending approval, also if it was sent with another one', async () => {
      const { approval, jobId } = await gate(store, { planned: false, ttlMs: 100 * 86_400_000 });
      const facts = { kind: 'approval', approvalId: approval.id, jobId } as NotificationFacts;
      await store.write((tx) =>
        insertNotification(
          tx,
          { topic: `approval:${approval.id}`, facts },
          { state: 'done', reason: 'sent with page_1', followed: 1 },
        ),
      );
      // Its job would let it go: nothing but the approval keeps it.
      await markNotified(jobId);
      now += NOTIFICATIONS_KEPT_MS + 1;
      await retain();
      assert.equal(await notificationCount(store), 1);
      await store.write(({ db }) =>
        db.updateTable('approvals').set({ state: 'expired' }).where('id', '=', approval.id).execute(),
      );
      await retain();
      assert.equal(await notificationCount(store), 0);
    });

    test('is no notification of a job whose end is not sent', async () => {
      const [open, ended, gone] = [await enqueue(store), await enqueue(store), newId('job', now)];
      for (const job of [open, ended, gone]) await jobNotification(job);
      await markNotified(ended);
      now += NOTIFICATIONS_KEPT_MS + 1;
      await retain();
      assert.deepEqual(
        (await store.db.selectFrom('pages').select('job_id').execute()).map((row) => row.job_id),
        [open],
      );
    });

    test('is removed in small writes, also with many deliveries of one; a stop leaves the rest', async () => {
      for (let n = 0; n < 4; n += 1) await add(`many:${n}`, 'done', 400);
      await store.write(async (tx) => {
        for (let n = 0; n < 700; n += 1)
          await insertNotification(
            tx,
            { topic: `one:${n}`, facts: { kind: 'test', by: 'ana' } },
            { state: 'done', reason: null, followed: 0 },
          );
      });
      now += NOTIFICATIONS_KEPT_MS + 1;
      const sizes: number[] = [];
      const stopping = new AbortController();
      const counted: Store = {
        ...store,
        async write(work) {
          const rows = async (): Promise<number> => (await deliveryCount(store)) + (await notificationCount(store));
          const were = await rows();
          const value = await store.write(work);
          sizes.push(were - (await rows()));
          if (sizes.length === 2) stopping.abort();
          return value;
        },
      };
      await retain(stopping.signal, counted);
      assert.equal(sizes.length, 2);
      await retain(undefined, counted);
      assert.deepEqual([await notificationCount(store), await deliveryCount(store)], [0, 0]);
      assert.ok(Math.max(...sizes) <= 1_000, `${Math.max(...sizes)} rows in one write`);
    });

    test('is a fire of a rule, once no cooldown and no open job needs it', async () => {
      const [open, ended] = [await enqueue(store), await enqueue(store)];
      await markNotified(ended);
      await fire('alone', now);
      await fire('open job', now, open);
      await fire('ended job', now, ended);
      await fire('acts again', now, ended);
      now += FIRES_KEPT_MS;
      await retain();
      assert.equal((await fires()).length, 4);
      now += 1;
      await fire('acts again', now, ended);
      await retain();
      assert.deepEqual(await fires(), ['acts again', 'open job']);
    });

    test('are the fires of many rules, read in batches', async () => {
      await store.write(async (tx) => {
        for (let n = 0; n < 1_700; n += 1)
          recordFire(tx, {
            rule: `r${n % 7}`,
            fingerprint: `f${n}`,
            status: n % 2 === 0 ? 'firing' : '',
            firedAt: n % 3 === 0 ? now + HOUR_MS : now,
            jobId: null,
          });
      });
      now += FIRES_KEPT_MS + 1;
      await retain();
      assert.equal((await fires()).length, Math.ceil(1_700 / 3));
    });

    test('is the same for two daemons at the same time', async () => {
      for (let n = 0; n < 20; n += 1) await add(`both:${n}`, 'done', 60);
      for (let n = 0; n < 20; n += 1) await fire(`f${n}`, now);
      now += FIRES_KEPT_MS + 1;
      await store.write((tx) => requestNotification(tx, { topic: 'young', facts: { kind: 'test', by: 'ana' } }));
      await Promise.all([retain(), retain(undefined, other), retain(), retain(undefined, other)]);
      assert.deepEqual([await notificationCount(store), await deliveryCount(store), (await fires()).length], [1, 0, 0]);
    });
  });
}

const ruleFile = (cooldown: string): string =>
  `name: a\nwhen: "true"\ncooldown: ${cooldown}\naction:\n  notify: true\n`;

test('No rule can have a cooldown for which its fires are not kept', async () => {
  const days = Math.floor(FIRES_KEPT_MS / 86_400_000);
  await assert.rejects(readRuleFile(ruleFile(`${days}d`)), /cooldown/);
  assert.equal((await readRuleFile(ruleFile(`${days - 1}d`))).cooldownMs, (days - 1) * 86_400_000);
});
