/** Pages that come at once, on each database: the first ones, then one that counts the rest, and nothing lost. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { collectNotifications } from '../../../src/daemon/notify/collect.ts';
import type { NotificationFacts } from '../../../src/domain/notifications.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { notifyJobEnd } from '../../../src/reaction/job-notification.ts';
import { armJob } from '../../../src/store/notify/endpoints.ts';
import { requestNotification } from '../../../src/store/notify/notifications.ts';
import type { JobRow, NotificationRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { enqueue, ENGINES, type TestDatabase } from '../engine-fixture.ts';

const TABLES = ['pages', 'deliveries', 'jobs', 'approvals', 'armed_jobs', 'mutes'] as const;

/** What people were shown, as facts, the oldest first. */
async function shown(store: Store): Promise<NotificationFacts[]> {
  const rows = await store.db
    .selectFrom('pages')
    .selectAll()
    .where('id', 'in', (eb) => eb.selectFrom('deliveries').select('page_id'))
    .orderBy('id')
    .execute();
  return rows.map(({ detail }) => JSON.parse(detail) as NotificationFacts);
}

const kinds = async (store: Store): Promise<Record<string, number>> => {
  const count: Record<string, number> = {};
  for (const { kind } of await shown(store)) count[kind] = (count[kind] ?? 0) + 1;
  return count;
};

const many = async (count: number, make: () => Promise<unknown>): Promise<void> =>
  void (await Promise.all(Array.from({ length: count }, make)));

for (const engine of ENGINES) {
  describe(`Notifications in a burst on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let other: Store;
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const collector = (of: Store, self: string) => ({
      store: of,
      clock,
      self: () => self,
      transports: () => [{ id: 'notify:ops#0', name: 'ops', key: '0', label: 'ntfy at ntfy.test' }],
      onError: assert.ifError,
    });
    const sweep = async (of = store, self = 'dmn_a'): Promise<void> => {
      while ((await collectNotifications(collector(of, self))) > 0);
    };
    const end = async (state: JobRow['state'] = 'failed', armed = false): Promise<string> => {
      const id = await enqueue(store);
      await store.write(async (tx) => {
        if (armed) await armJob(tx, { job_id: id, armed_by: 'ana', owner: 'ana' });
        await notifyJobEnd({ wake: () => undefined }, tx, {
          id,
          runbook: 'command:true',
          state,
          exit_code: 1,
        } as JobRow);
      });
      return id;
    };
    const match = (rule: string) =>
      store.write((tx) => {
        const eventId = newId('evt', now);
        return requestNotification(tx, {
          topic: `rule:${eventId}:${rule}`,
          facts: { kind: 'rule', rule, eventId, event: 'DiskFull', message: null },
        });
      });

    before(async () => {
      database = await engine.create();
      [store, other] = [await database.open({ clock }), await database.open({ clock })];
    });
    after(() => database.remove());
    beforeEach(async () => {
      now += 600_000;
      await store.write(async ({ db }) => {
        for (const table of TABLES) await db.deleteFrom(table).execute();
      });
    });

    test('30 jobs that fail within a minute are five notifications and one that counts 25', async () => {
      await many(20, () => end());
      await sweep();
      assert.deepEqual(await kinds(store), { job: 5 });
      now += 5_000;
      await many(8, () => end());
      await many(2, () => end('interrupted'));
      await sweep();
      assert.deepEqual(await kinds(store), { job: 5 });
      now += 5_000;
      await sweep();
      await sweep();
      assert.deepEqual(await kinds(store), { job: 5, jobs: 1 });
      const fold = (await shown(store)).find((each) => each.kind === 'jobs');
      assert.deepEqual([fold?.count, fold?.states], [25, { failed: 23, interrupted: 2 }]);
      const pages: NotificationRow[] = await store.db.selectFrom('pages').selectAll().execute();
      const speaker = pages.find(({ kind }) => kind === 'jobs')!;
      assert.equal(
        pages.filter(
          ({ kind, state, reason }) => kind === 'job' && state === 'done' && reason === `sent with ${speaker.id}`,
        ).length,
        25,
      );
      assert.equal(pages.filter(({ state }) => state === 'new').length, 0);
    });

    test('in a storm there is one notification a minute, and single ones again a minute after the last', async () => {
      for (let second = 0; second < 180; second += 10) {
        await many(10, () => end());
        await sweep();
        now += 10_000;
      }
      await sweep();
      const storm = await kinds(store);
      assert.deepEqual([storm['job'], storm['jobs']! <= 4], [5, true], JSON.stringify(storm));
      now += 60_000;
      await sweep();
      const counted = (await shown(store))
        .map((each) => (each.kind === 'jobs' ? each.count : 1))
        .reduce((a, b) => a + b, 0);
      assert.equal(counted, 180, 'each end is notified once');
      now += 60_000;
      await end();
      await sweep();
      assert.equal((await kinds(store))['job'], 6);
    });

    test('an armed job is notified separately, once, also in the middle of a burst', async () => {
      await many(10, () => end());
      const armed = [await end('failed', true), await end('succeeded', true), await end('degraded', true)];
      await sweep();
      now += 10_000;
      await sweep();
      const answer = await shown(store);
      for (const job of armed)
        assert.equal(answer.filter((each) => each.kind === 'job' && each.jobId === job).length, 1);
      assert.deepEqual(await kinds(store), { job: 8, jobs: 1 });
      const fold = answer.find((each) => each.kind === 'jobs');
      assert.ok(fold?.count === 5 && fold.first.every(({ jobId }) => !armed.includes(jobId)));
    });

    test('F22: 1,000 events of one rule are six notifications; another rule is counted separately', async () => {
      await many(1_000, () => match('disk'));
      await match('fan');
      await sweep();
      now += 10_000;
      await sweep();
      const answer = await shown(store);
      assert.equal(answer.filter((each) => each.kind === 'rule' && each.rule === 'disk').length, 5);
      assert.deepEqual(
        answer.flatMap((each) => (each.kind === 'rules' ? [[each.rule, each.count]] : [])),
        [['disk', 995]],
      );
      assert.equal(answer.filter((each) => each.kind === 'rule' && each.rule === 'fan').length, 1);
    });

    test('a burst that waits delays neither requests for approval nor other notifications', async () => {
      await many(300, () => end());
      await sweep();
      await gate(store, { planned: false });
      await store.write((tx) => requestNotification(tx, { topic: 'test:1', facts: { kind: 'test', by: 'ana' } }));
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 1, job: 5, test: 1 });
    });

    test('two daemons that look at the same time make one notification of a burst, sent by one daemon', async () => {
      await many(40, () => end());
      await Promise.all([sweep(), sweep(other, 'dmn_b')]);
      now += 10_000;
      await Promise.all([sweep(), sweep(other, 'dmn_b'), sweep(), sweep(other, 'dmn_b')]);
      assert.deepEqual(await kinds(store), { job: 5, jobs: 1 });
      const deliveries = await store.db.selectFrom('deliveries').selectAll().execute();
      assert.equal(deliveries.length, 6);
    });

    test('two daemons that look at once notify each request once: single or together, never both', async () => {
      for (const [asked, answer] of [
        [4, { approval: 4 }],
        [9, { approvals: 1 }],
      ] as const) {
        now += 600_000;
        for (const table of TABLES) await store.write(({ db }) => db.deleteFrom(table).execute());
        await many(asked, () => gate(store, { planned: false }));
        await Promise.all([sweep(), sweep(other, 'dmn_b')]);
        assert.deepEqual(await kinds(store), answer);
      }
    });

    test('a request after a counting notification waits at most 10 s, near its deadline 2 s', async () => {
      const ask = (ttlMs?: number) => () => gate(store, { planned: false, ...(ttlMs === undefined ? {} : { ttlMs }) });
      await many(5, ask());
      await sweep();
      await many(9, ask());
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 5, approvals: 1 });
      now += 1_000;
      await many(3, ask());
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 5, approvals: 1 });
      now += 9_000;
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 5, approvals: 2 });
      now += 1_000;
      await many(1, ask(20_000));
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 5, approvals: 2 });
      now += 1_000;
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 5, approvals: 3 });
      const untold = await store.db
        .selectFrom('approvals')
        .select('id')
        .where((eb) =>
          eb.not(eb.exists(eb.selectFrom('pages').select('id').whereRef('pages.approval_id', '=', 'approvals.id'))),
        )
        .execute();
      assert.deepEqual(untold, []);
    });

    test('F20: notifications that a failed transaction had combined wait as before', async () => {
      await many(12, () => end());
      await sweep();
      now += 10_000;
      const broken: Store = {
        ...store,
        write: (work) =>
          store.write(async (tx) => {
            await work(tx);
            throw new Error('the power went away');
          }),
      };
      await assert.rejects(collectNotifications(collector(broken, 'dmn_a')), /the power went away/);
      assert.deepEqual(await kinds(store), { job: 5 });
      await sweep();
      assert.deepEqual((await shown(store)).find((each) => each.kind === 'jobs')?.count, 7);
    });

    test('F10: notifications from before a clock was set back delay no others', async () => {
      await many(30, () => end());
      await sweep();
      now += 10_000;
      await sweep();
      now -= 3_600_000;
      await end();
      await gate(store, { planned: false });
      await sweep();
      assert.deepEqual(await kinds(store), { approval: 1, job: 6, jobs: 1 });
    });
  });
}
