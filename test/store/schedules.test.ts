/** The slots of schedules on each database: each is taken once, whoever looks, however often, and however the clock jumps. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Scheduler } from '../../src/daemon/schedule.ts';
import { setCordon } from '../../src/store/cordon.ts';
import { deleteSchedule, listRefused, switchSchedule } from '../../src/store/schedules.ts';
import type { Store } from '../../src/store/store.ts';
import { deleteWorkspace, insertWorkspace } from '../../src/store/workspaces.ts';
import { addSchedule, type MovedTime, scheduleOf, storeAt, timeFrom } from '../support/schedule-maker.ts';
import { ENGINES, type TestDatabase, wipe } from './kit.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const TTL = 30 * MINUTE;

/** A daemon's look at schedules. */
function daemon(store: Store, time: MovedTime): Scheduler {
  return new Scheduler({ store: storeAt(store, time), clock: time.clock, wake: () => undefined, approvalTtlMs: TTL });
}

function jobs(store: Store) {
  return store.db.selectFrom('jobs').selectAll().orderBy('id').execute();
}

async function audited(store: Store): Promise<{ operation: string; target: string | null; detail: Record<string, unknown> }[]> {
  const rows = await store.db.selectFrom('ledger').select(['operation', 'target', 'detail']).orderBy('at').orderBy('seq').execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
}

async function slotsRun(store: Store): Promise<unknown[]> {
  return (await audited(store)).filter(({ operation }) => operation === 'schedule.run').map(({ detail }) => String(detail['slot']).slice(0, 16));
}

async function nextOf(store: Store): Promise<string | null> {
  const { next_at: at } = await scheduleOf(store);
  return at === null ? null : new Date(at).toISOString().slice(0, 16);
}

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
      for (let n = 0; n < 200; n += 1) await addSchedule(store, { name: `s${n}`, next_at: Date.parse('2026-11-21T03:00:00Z') });
      await Promise.all([daemon(store, time).sweepOnce(), daemon(other, time).sweepOnce()]);
      const made = await jobs(store);
      const rows = await store.db.selectFrom('schedules').selectAll().execute();
      assert.equal(made.length, 200);
      assert.deepEqual(new Set(rows.map((row) => row.last_job_id)), new Set(made.map(({ id }) => id)));
      assert.ok(rows.every((row) => row.next_at === Date.parse('2026-11-22T03:00:00Z') && row.last_at === Date.parse('2026-11-21T03:00:00Z')));
      assert.equal((await slotsRun(store)).length, 200);
    });

    test('F10: over 50 minutes with two daemons, one of which starts anew each time, each minute is taken once', async () => {
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

    test('Nothing runs before its time, and a look tells how long that is', async () => {
      const time = timeFrom('2026-11-21T02:59:58Z');
      const look = daemon(store, time);
      assert.equal(await look.sweepOnce(), 1_000, 'with no schedule it looks again in a second');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      assert.equal(await look.sweepOnce(), 1_000);
      time.pass(1_400);
      assert.equal(await look.sweepOnce(), 600);
      assert.deepEqual(await jobs(store), []);
      time.pass(600);
      await look.sweepOnce();
      assert.equal((await jobs(store)).length, 1);
    });

    test('F10: what passed while no daemon ran is made up for by one run, and the start after that makes none', async () => {
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

    test('F10: a clock that jumps two hours ahead runs what is due once, and back runs nothing twice and leaves nothing out', async () => {
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

    test('F10: ten years ahead run a slot once, and back again no schedule is silent for ten years', async () => {
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

    test('F10: through a night in which the clock is set forward, and one in which it is set back, each day runs once', async () => {
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

    test('T32: while the cordon is up a slot queues all the same, once', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await addSchedule(store, { next_at: Date.parse('2026-11-21T03:00:00Z') });
      await store.write((tx) => setCordon(tx, 'ana'));
      const look = daemon(store, time);
      for (let n = 0; n < 3; n += 1) await look.sweepOnce();
      assert.deepEqual((await jobs(store)).map(({ state, trigger }) => [state, trigger]), [['queued', 'schedule']]);
    });

    test('T28: who wrote the schedule stands behind its jobs and requests, whose origin is the schedule', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await store.write((tx) => insertWorkspace(tx, { name: 'net', source: null, path: '/srv/net', approve_when: null, deny_when: null, require_saved_plan: 0, protect_destroy: 0 }));
      const due = Date.parse('2026-11-21T03:00:00Z');
      await addSchedule(store, { action: { kind: 'apply', workspace: 'net', timeout: '10m' }, approval: 'required', approval_ttl_ms: 5 * MINUTE, next_at: due });
      await addSchedule(store, { name: 'weekly', action: { kind: 'plan', workspace: 'net', timeout: null }, approval: 'required', next_at: due });
      await daemon(store, time).sweepOnce();
      const made = (await jobs(store)).toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
      assert.deepEqual(
        made.map((job) => [job.state, job.runbook, job.workspace, job.concurrency_key, job.requested_by, job.owners]),
        ['apply:net', 'plan:net'].map((runbook) => ['awaiting_approval', runbook, 'net', 'workspace:net', 'ana-laptop', '["ana"]']),
      );
      assert.equal(made[0]?.timeout_ms, 10 * MINUTE);
      const asked = (await store.db.selectFrom('approvals').selectAll().execute()).toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
      assert.deepEqual(asked.map(({ origin, owners, alert, rule }) => [origin, owners, alert, rule]), [0, 1].map(() => ['schedule', '["ana"]', null, null]));
      assert.deepEqual(asked.map((each) => each.expires_at - each.created_at), [5 * MINUTE, TTL]);
    });

    test('A slot whose action is refused is over, its reason is in its row and the ledger, and others run', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      const due = Date.parse('2026-11-21T03:00:00Z');
      const base = { source: null, path: '/srv/net', approve_when: null, deny_when: null, protect_destroy: 1, require_saved_plan: 1 } as const;
      for (const name of ['gone', 'kept']) await store.write((tx) => insertWorkspace(tx, { name, ...base }));
      await addSchedule(store, { name: 'a-gone', action: { kind: 'plan', workspace: 'gone', timeout: null }, next_at: due });
      await addSchedule(store, { name: 'b-fresh', action: { kind: 'apply', workspace: 'kept', timeout: null }, next_at: due, last_job_id: 'job_before' });
      await addSchedule(store, { name: 'c-destroy', action: { kind: 'destroy', workspace: 'kept', timeout: null }, next_at: due });
      await addSchedule(store, { name: 'd-fine', next_at: due });
      await store.write((tx) => deleteWorkspace(tx, 'gone'));
      await daemon(store, time).sweepOnce();
      assert.equal((await jobs(store)).length, 1);
      const told = (await audited(store)).filter(({ operation }) => operation === 'schedule.refuse').toSorted((a, b) => ((a.target ?? '') < (b.target ?? '') ? -1 : 1));
      assert.deepEqual(told.map(({ target, detail }) => [target, detail['slot'], detail['code']]), [
        ['a-gone', '2026-11-21T03:00:00.000Z', 'not_found'],
        ['b-fresh', '2026-11-21T03:00:00.000Z', 'conflict'],
        ['c-destroy', '2026-11-21T03:00:00.000Z', 'conflict'],
      ]);
      assert.match(String(told[0]?.detail['reason']), /gone/);
      const { last_at: lastAt, last_job_id: lastJob, next_at: nextAt } = await scheduleOf(store, 'b-fresh');
      assert.deepEqual([lastAt, lastJob, nextAt], [due, null, Date.parse('2026-11-22T03:00:00Z')]);
      await daemon(store, time).sweepOnce();
      assert.equal((await audited(store)).filter(({ operation }) => operation === 'schedule.refuse').length, 3);
      assert.deepEqual((await listRefused(store.db, 10)).map(({ name, last_refusal: why }) => [name, why]), told.map(({ target, detail }) => [target, detail['reason']]));
      assert.equal((await listRefused(store.db, 2)).length, 2);
      // A slot that makes its job is news enough.
      await store.write((tx) => insertWorkspace(tx, { name: 'gone', ...base }));
      time.pass(24 * HOUR);
      await daemon(store, time).sweepOnce();
      assert.deepEqual((await listRefused(store.db, 10)).map(({ name }) => name), ['b-fresh', 'c-destroy']);
    });

    test('A schedule looks for drift as one does by hand', async () => {
      const time = timeFrom('2026-11-21T03:00:00Z');
      await store.write((tx) => insertWorkspace(tx, { name: 'net', source: null, path: '/srv/net', approve_when: null, deny_when: null, protect_destroy: 0, require_saved_plan: 0 }));
      await addSchedule(store, { action: { kind: 'drift', workspace: 'net', timeout: null }, next_at: time.now() });
      await daemon(store, time).sweepOnce();
      assert.deepEqual((await jobs(store)).map(({ kind, runbook, state, trigger, concurrency_key: key }) => [kind, runbook, state, trigger, key]), [['drift', 'drift:net', 'queued', 'schedule', 'workspace:net']]);
    });

    test('A schedule that is switched off, removed or made anew after a daemon saw it due does not run', async () => {
      const due = Date.parse('2026-11-21T03:00:00Z');
      const changes: ((store: Store) => Promise<unknown>)[] = [
        (to) => to.write((tx) => switchSchedule(tx, 'nightly', { enabled: 0, next_at: null, owners: '[]' })),
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

    test('One that this version can not read runs what was due and then rests, and runs on where it can be read again', async () => {
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
