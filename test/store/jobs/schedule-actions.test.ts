/** What a slot of a schedule does when it is taken, on each database. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { toJson } from '../../../src/lib/json.ts';
import { setCordon } from '../../../src/store/maintenance/cordon.ts';
import { deleteSchedule, holdSchedule, listRefused, switchSchedule } from '../../../src/store/schedules/schedules.ts';
import type { Store } from '../../../src/store/store.ts';
import { deleteWorkspace, insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import {
  addSchedule,
  scheduleOf,
  timeFrom,
  MINUTE,
  HOUR,
  TTL,
  daemon,
  jobs,
  audited,
  nextOf,
} from '../../support/fixtures/schedules.ts';
import { ENGINES, type TestDatabase, wipe } from '../engine-fixture.ts';

for (const engine of ENGINES) {
  describe(`What schedules do on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let other: Store;
    before(async () => {
      database = await engine.create();
      [store, other] = [await database.open(), await database.open()];
    });
    after(() => database.remove());
    afterEach(() => wipe(store));

    test('T32: during a cordon a slot still queues its job, once', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      await store.write((tx) => setCordon(tx, 'ana'));
      const look = daemon(store, time);
      for (let n = 0; n < 3; n += 1) await look.sweepOnce();
      assert.deepEqual(
        (await jobs(store)).map(({ state, trigger }) => [state, trigger]),
        [['queued', 'schedule']],
      );
    });

    test('T28: the author of a schedule owns its jobs and requests, whose origin is the schedule', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await store.write((tx) =>
        insertWorkspace(tx, {
          name: 'net',
          source: null,
          path: '/srv/net',
          approve_when: null,
          deny_when: null,
          require_saved_plan: 0,
          protect_destroy: 0,
        }),
      );
      const due = Date.parse('2026-11-21T03:00:00Z');
      await addSchedule(store, {
        action: { kind: 'apply', workspace: 'net', timeout: '10m' },
        approval: 'required',
        approval_ttl_ms: 5 * MINUTE,
        next_at: due,
      });
      await addSchedule(store, {
        name: 'weekly',
        action: { kind: 'plan', workspace: 'net', timeout: null },
        approval: 'required',
        next_at: due,
      });
      await daemon(store, time).sweepOnce();
      const made = (await jobs(store)).toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
      assert.deepEqual(
        made.map((job) => [job.state, job.runbook, job.workspace, job.concurrency_key, job.requested_by, job.owners]),
        ['apply:net', 'plan:net'].map((runbook) => [
          'awaiting_approval',
          runbook,
          'net',
          'workspace:net',
          'ana-laptop',
          '["ana"]',
        ]),
      );
      assert.equal(made[0]?.timeout_ms, 10 * MINUTE);
      const asked = (await store.db.selectFrom('approvals').selectAll().execute()).toSorted((a, b) =>
        a.kind < b.kind ? -1 : 1,
      );
      assert.deepEqual(
        asked.map(({ origin, owners, alert, rule }) => [origin, owners, alert, rule]),
        [0, 1].map(() => ['schedule', '["ana"]', null, null]),
      );
      assert.deepEqual(
        asked.map((each) => each.expires_at - each.created_at),
        [5 * MINUTE, TTL],
      );
    });

    test('A slot whose action is refused is over, with its reason in row and ledger, and others run', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      const due = Date.parse('2026-11-21T03:00:00Z');
      const base = {
        source: null,
        path: '/srv/net',
        approve_when: null,
        deny_when: null,
        protect_destroy: 1,
        require_saved_plan: 1,
      } as const;
      for (const name of ['gone', 'kept']) await store.write((tx) => insertWorkspace(tx, { name, ...base }));
      await addSchedule(store, {
        name: 'a-gone',
        action: { kind: 'plan', workspace: 'gone', timeout: null },
        next_at: due,
      });
      await addSchedule(store, {
        name: 'b-fresh',
        action: { kind: 'apply', workspace: 'kept', timeout: null },
        next_at: due,
        last_job_id: 'job_before',
      });
      await addSchedule(store, {
        name: 'c-destroy',
        action: { kind: 'destroy', workspace: 'kept', timeout: null },
        next_at: due,
      });
      await addSchedule(store, { name: 'd-fine', next_at: due });
      await store.write((tx) => deleteWorkspace(tx, 'gone'));
      await daemon(store, time).sweepOnce();
      assert.equal((await jobs(store)).length, 1);
      const answer = (await audited(store))
        .filter(({ operation }) => operation === 'schedule.refuse')
        .toSorted((a, b) => ((a.target ?? '') < (b.target ?? '') ? -1 : 1));
      assert.deepEqual(
        answer.map(({ target, detail }) => [target, detail['slot'], detail['code']]),
        [
          ['a-gone', '2026-11-21T03:00:00.000Z', 'not_found'],
          ['b-fresh', '2026-11-21T03:00:00.000Z', 'conflict'],
          ['c-destroy', '2026-11-21T03:00:00.000Z', 'conflict'],
        ],
      );
      assert.match(String(answer[0]?.detail['reason']), /gone/);
      const { last_at: lastAt, last_job_id: lastJob, next_at: nextAt } = await scheduleOf(store, 'b-fresh');
      assert.deepEqual([lastAt, lastJob, nextAt], [due, null, Date.parse('2026-11-22T03:00:00Z')]);
      await daemon(store, time).sweepOnce();
      assert.equal((await audited(store)).filter(({ operation }) => operation === 'schedule.refuse').length, 3);
      assert.deepEqual(
        (await listRefused(store.db, 10)).map(({ name, last_refusal: why }) => [name, why]),
        answer.map(({ target, detail }) => [target, detail['reason']]),
      );
      assert.equal((await listRefused(store.db, 2)).length, 2);
      // A slot that makes its job is news enough.
      await store.write((tx) => insertWorkspace(tx, { name: 'gone', ...base }));
      time.pass(24 * HOUR);
      await daemon(store, time).sweepOnce();
      assert.deepEqual(
        (await listRefused(store.db, 10)).map(({ name }) => name),
        ['b-fresh', 'c-destroy'],
      );
    });

    test('A schedule queues the same drift run as the command does', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await store.write((tx) =>
        insertWorkspace(tx, {
          name: 'net',
          source: null,
          path: '/srv/net',
          approve_when: null,
          deny_when: null,
          protect_destroy: 0,
          require_saved_plan: 0,
        }),
      );
      await addSchedule(store, { action: { kind: 'drift', workspace: 'net', timeout: null }, next_at: time.now() });
      await daemon(store, time).sweepOnce();
      assert.deepEqual(
        (await jobs(store)).map(({ kind, runbook, state, trigger, concurrency_key: key }) => [
          kind,
          runbook,
          state,
          trigger,
          key,
        ]),
        [['drift', 'drift:net', 'queued', 'schedule', 'workspace:net']],
      );
    });

    test('A schedule that is disabled, removed or added again after a daemon saw it due does not run', async () => {
      const due = Date.parse('2026-11-21T03:00:00Z');
      const changes: ((store: Store) => Promise<unknown>)[] = [
        (to) =>
          to.write(async (tx) =>
            switchSchedule(tx, await holdSchedule(tx, 'nightly'), { enabled: 0, next_at: null, owners: toJson([]) }),
          ),
        (to) => to.write((tx) => deleteSchedule(tx, 'nightly')),
        async (to) => {
          await to.write((tx) => deleteSchedule(tx, 'nightly'));
          await addSchedule(to, { created_at: 2, next_at: due + 24 * HOUR });
        },
      ];
      for (const change of changes) {
        const time = timeFrom('2026-11-21T03:00:00Z');
        await addSchedule(store, { next_at: due });
        const late: Store = {
          ...store,
          async write(work) {
            await change(other);
            return store.write(work);
          },
        };
        await daemon(late, time).sweepOnce();
        assert.deepEqual(await jobs(store), []);
        await wipe(store);
      }
    });

    test('A drift check of every workspace takes those that exist then, and is refused without any', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      const due = Date.parse('2026-11-21T03:00:00Z');
      const all = { action: { kind: 'drift_all', timeout: '10m' }, next_at: due } as const;
      await addSchedule(store, all);
      await daemon(store, time).sweepOnce();
      assert.deepEqual(await jobs(store), []);
      assert.match((await scheduleOf(store)).last_refusal ?? '', /There is no workspace/);
      const optional = { source: null, approve_when: null, deny_when: null } as const;
      for (const name of ['net', 'dns'])
        await store.write((tx) =>
          insertWorkspace(tx, { ...optional, name, path: `/srv/${name}`, require_saved_plan: 0, protect_destroy: 0 }),
        );
      await addSchedule(store, { ...all, name: 'later' });
      await daemon(store, time).sweepOnce();
      const made = (await jobs(store)).map((job) =>
        [job.kind, job.runbook, job.concurrency_key, job.timeout_ms].join(' '),
      );
      assert.deepEqual(
        made.toSorted(),
        ['dns', 'net'].map((name) => `drift drift:${name} workspace:${name} 600000`),
      );
      assert.equal((await scheduleOf(store, 'later')).runbook, 'drift:*');
    });

    test('A drift check of hundreds of workspaces is queued in several writes, each once, by any daemon', async () => {
      const names = Array.from({ length: 250 }, (_, index) => `net${index}`);
      const columns = { source: null, approve_when: null, deny_when: null, require_saved_plan: 0, protect_destroy: 0 };
      await store.write(async (tx) => {
        for (const name of names)
          await insertWorkspace(tx, { ...columns, name, path: `/srv/${name}` } as Parameters<
            typeof insertWorkspace
          >[1]);
      });
      const time = timeFrom('2026-11-21T03:00:00Z');
      await addSchedule(store, { action: { kind: 'drift_all', timeout: null }, next_at: time.now() });
      // This one dies after its first write.
      let writes = 0;
      const dying: Store = {
        ...store,
        write: (work, options) =>
          (writes += 1) > 1 ? Promise.reject(new Failure('unavailable', 'gone')) : store.write(work, options),
      };
      await assert.rejects(daemon(dying, time).sweepOnce(), /gone/);
      assert.equal((await jobs(store)).length, 100);
      await Promise.all([store, other].map((each) => daemon(each, time).sweepOnce()));
      const made = (await jobs(store)).map(({ concurrency_key: key }) => key);
      assert.equal(made.length, names.length);
      assert.deepEqual(new Set(made), new Set(names.map((name) => `workspace:${name}`)));
      assert.equal((await scheduleOf(store)).rest_after, null);
      for (const each of [store, other]) await daemon(each, time).sweepOnce();
      assert.equal((await jobs(store)).length, names.length);
    });

    test('One that this version cannot read runs what was due, pauses, and continues when it can be read', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await addSchedule(store, { timezone: 'Mars/Olympus', next_at: Date.parse('2026-11-21T03:00:00Z') });
      const look = daemon(store, time);
      for (let n = 0; n < 3; n += 1) await look.sweepOnce();
      assert.deepEqual([(await jobs(store)).length, await nextOf(store)], [1, null]);
      await store.write((tx) => tx.db.updateTable('schedules').set({ timezone: 'UTC' }).execute());
      await daemon(store, time).sweepOnce();
      assert.equal(await nextOf(store), '2026-11-22T03:00');
    });
  });
}
