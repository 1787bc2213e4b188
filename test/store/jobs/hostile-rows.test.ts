/** Rows that somebody wrote into the database: one holds up no other, and none changes what a person reads unseen. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { expireOnce } from '../../../src/daemon/approvals/expire.ts';
import { claim as claimAs } from '../../../src/daemon/jobs/job-transitions.ts';
import { checkOrder } from '../../../src/daemon/jobs/ordered.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Facts } from '../../../src/doctor/entry.ts';
import { examineSchema } from '../../../src/doctor/maintenance/schema.ts';
import { decide } from '../../../src/operations/approvals/decide.ts';
import { NOT_LOOKED } from '../../../src/operations/approvals/pinned-files.ts';
import { getListedApproval } from '../../../src/store/approvals/approvals.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import type { ScheduleRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { addSchedule, daemon, scheduleOf, timeFrom } from '../../support/fixtures/schedules.ts';
import { addDaemon, enqueue, ENGINES, freshStore, stateOf } from '../engine-fixture.ts';

/** The largest that a chunk can say, and the largest of the column on PostgreSQL. */
const SEQ_MAX = 2 ** 48 - 1;
const GENERATION_MAX = 2 ** 31 - 1;
/** More than one pass takes. */
const BAD = 120;

/** A chunk behind which no event of its job has a place. */
function spoil(store: Store, jobId: string): Promise<unknown> {
  const chunk = { job_id: jobId, first_seq: 2, last_seq: SEQ_MAX, raw_bytes: 0, data: Buffer.alloc(0), at: 1 };
  return store.write(({ db }) => db.insertInto('job_chunks').values(chunk).execute());
}

for (const engine of ENGINES)
  describe(`T80: rows that somebody wrote, on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('T80: a job whose output or count of claims is at its end holds up no other job', async () => {
      const { store } = its;
      await addDaemon(store, 'dmn_a', engine.hasLeases ? Date.now() + 60_000 : undefined);
      const [spoilt, counted, good] = [await enqueue(store), await enqueue(store), await enqueue(store)];
      await spoil(store, spoilt);
      const last = { lease_generation: GENERATION_MAX };
      await store.write(({ db }) => db.updateTable('jobs').set(last).where('id', '=', counted).execute());
      const claimed = await store.write((tx) => claimAs(tx, { id: 'dmn_a', node: 'here' }, 8));
      assert.deepEqual(claimed.map(({ row }) => row.id).toSorted(), [spoilt, counted, good].toSorted());
    });

    test('T80: an approval whose job has such output expires, and so do the others', async () => {
      const { store } = its;
      const made = [await gate(store, { planned: false }), await gate(store, { planned: false })];
      const first = made[0]?.jobId ?? assert.fail('no job was made');
      await spoil(store, first);
      await store.write(({ db }) => db.updateTable('approvals').set({ expires_at: 1 }).execute());
      await expireOnce({ store, clock: systemClock, announceJob: () => undefined, self: () => 'dmn_a' });
      for (const { jobId } of made) assert.equal(await stateOf(store, jobId), 'cancelled');
    });

    test('T80: schedules that cannot be read do not keep another one from its slot', async () => {
      const { store } = its;
      const slot = Date.parse('2026-11-21T03:00:00Z');
      for (let n = 0; n < BAD; n += 1) await addSchedule(store, { name: `bad${n}`, next_at: slot });
      await store.write(({ db }) =>
        db
          .updateTable('schedules')
          .set({ owners: 'not json' as ScheduleRow['owners'] })
          .execute(),
      );
      await addSchedule(store, { name: 'nightly', next_at: slot });
      await daemon(store, timeFrom('2026-11-21T03:00:00.500Z')).sweepOnce();
      assert.notEqual((await scheduleOf(store)).last_job_id, null);
      assert.match((await scheduleOf(store, 'bad0')).last_refusal ?? '', /Integrity: schedule bad0 was changed/);
    });

    test('T80: a job that was ordered for another node does not run here, whatever daemons are called', async () => {
      const id = await enqueue(its.store, { node: 'vm' });
      const job = await getJob(its.store.db, id);
      await checkOrder(its.store, job, 'vm');
      await assert.rejects(checkOrder(its.store, job, 'n2'), /Integrity: job job_\w+ was ordered for node vm\./);
    });

    test('T80: a summary that was changed gets no yes, and the text of the job itself is not shown', async () => {
      const { store } = its;
      const { approval, jobId } = await gate(store, { planned: false, summary: 'clear the cache' });
      const set = (table: 'approvals' | 'jobs', columns: object): Promise<unknown> =>
        store.write(({ db }) => db.updateTable(table).set(columns).execute());
      await set('jobs', { summary: 'show the time' });
      assert.equal((await getListedApproval(store.db, approval.id)).summary, 'clear the cache');
      const home = { store, services: { wake: () => undefined, announceJob: () => undefined } };
      const decider = { name: 'zoe', owner: 'zoe', via: 'api' };
      const request = {
        approvalId: approval.id,
        decision: 'approve',
        reason: null,
        decider,
        files: NOT_LOOKED,
      } as const;
      const approve = (): Promise<unknown> => store.write((tx) => decide(home, tx, request));
      await set('approvals', { summary: 'show the time' });
      await assert.rejects(approve(), /Integrity: approval apr_\w+ was changed/);
      await set('approvals', { summary: 'clear the cache' });
      await set('jobs', { writable: 1 });
      await assert.rejects(approve(), /Integrity: job job_\w+ was changed/);
      await set('jobs', { writable: 0 });
      await approve();
      assert.equal(await stateOf(store, jobId), 'queued');
    });

    test('T74: the doctor names a trigger, which could drop a row of the ledger without an error', async () => {
      const { store } = its;
      const [make, drop] = TRIGGERS[engine.name];
      const facts = { openedStore: () => store } as Facts;
      assert.equal((await examineSchema(facts)).status, 'ok');
      for (const statement of make) await store.write(({ db }) => sql.raw(statement).execute(db));
      const found = await examineSchema(facts);
      for (const statement of drop) await store.write(({ db }) => sql.raw(statement).execute(db));
      assert.equal(found.status, 'fail');
      assert.match(found.detail, /has a trigger that no migration made: quiet on ledger\./);
    });
  });

/** What drops each row without an error, and what undoes that. */
const TRIGGERS = {
  SQLite: [['create trigger quiet before insert on ledger begin select raise(ignore); end'], ['drop trigger quiet']],
  PostgreSQL: [
    [
      `create function quiet() returns trigger language plpgsql as 'begin return null; end'`,
      'create trigger quiet before insert on ledger for each row execute function quiet()',
    ],
    ['drop trigger quiet on ledger', 'drop function quiet()'],
  ],
} as const;
