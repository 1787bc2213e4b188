/** What a restored store ends, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { readEvents } from '../../../src/operations/jobs/job-events.ts';
import type { Settled } from '../../../src/store/area.ts';
import { settleRestored } from '../../../src/store/settle.ts';
import { insertSession, insertToken } from '../../../src/store/access/tokens.ts';
import { finishJob } from '../../../src/store/jobs/claims.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { findPartial, setPartial } from '../../../src/store/jobs/partials.ts';
import { isCordoned } from '../../../src/store/maintenance/cordon.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { addSchedule } from '../../support/fixtures/schedules.ts';
import { addDaemon, claimOne, ENGINES, enqueue, freshStore, makeToken } from '../engine-fixture.ts';

const DAY_MS = 86_400_000;

async function settle(store: Store): Promise<{ settled: Settled; interrupted: string[] }> {
  const interrupted: string[] = [];
  const note = (_tx: unknown, job: JobRow): Promise<void> => Promise.resolve(void interrupted.push(job.id));
  return {
    settled: await store.write((tx) => settleRestored(tx, { by: 'local:ana', interrupted: note })),
    interrupted,
  };
}

async function lastEvents(store: Store, id: string): Promise<object[]> {
  const events = await readEvents(store.db, await getJob(store.db, id), 0, 100);
  return events.slice(-2).map((event) => ({ ...event, seq: undefined, at: undefined }));
}

for (const engine of ENGINES) {
  describe(`A restored store on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('ends what was under way, keeps what had ended, and is cordoned', async () => {
      const { store } = fresh;
      await addDaemon(store, 'dmn_a', engine.hasLeases ? Date.now() + DAY_MS : null);
      const done = await enqueue(store);
      const fence = await claimOne(store);
      await store.write((tx) => finishJob(tx, fence, { state: 'succeeded', exitCode: 0 }));
      const before = await getJob(store.db, done);
      const running = await enqueue(store, { concurrencyKey: 'k' });
      await claimOne(store);
      await store.write(async (tx) => setPartial(tx, running, { stream: 'stdout', data: Buffer.from('Sure? ') }));
      const queued = [await enqueue(store, { concurrencyKey: 'k' }), await enqueue(store)];
      const { approval, jobId: gated } = await gate(store);

      const { settled, interrupted } = await settle(store);

      assert.deepEqual(interrupted, [running], 'only a run leaves something');
      assert.equal(await findPartial(store.db, running), undefined);
      assert.equal(settled.interrupted, 3);
      assert.equal(settled.cancelled, 1);
      assert.equal(settled.approvals, 1);
      for (const id of [running, ...queued]) {
        const { state, finished_at: at, blocked, outcome_event_id: event } = await getJob(store.db, id);
        assert.deepEqual([state, at === null, blocked, event], ['interrupted', false, 0, '']);
        assert.deepEqual(await lastEvents(store, id), [
          {
            seq: undefined,
            at: undefined,
            type: 'log',
            stream: 'system',
            text: 'The job was interrupted: restored from backup.',
          },
          { seq: undefined, at: undefined, type: 'state', state: 'interrupted', exit_code: null },
        ]);
      }
      assert.equal((await getJob(store.db, gated)).state, 'cancelled');
      const ended = await store.db.selectFrom('approvals').selectAll().where('id', '=', approval.id).execute();
      assert.deepEqual(
        ended.map(({ state, reason, decided_by: by }) => [state, reason, by]),
        [['expired', 'restored from backup', null]],
      );
      assert.deepEqual({ ...(await getJob(store.db, done)) }, { ...before, outcome_event_id: '' });
      assert.equal(await isCordoned(store.db), true);
      const daemons = await store.db.selectFrom('daemons').select('stopped_at').execute();
      assert.ok(daemons.every(({ stopped_at: at }) => at !== null));
    });

    test('ends sessions, forgets what it knew of drift, and sends nothing that was not sent', async () => {
      const { store } = fresh;
      const token = makeToken();
      await store.write(async (tx) => {
        await insertToken(tx, token);
        await insertSession(tx, { id: 's', token_id: token.id, csrf: 'c', created_at: tx.now, expires_at: tx.now + 1 });
      });
      await gate(store, { workspace: 'net' });
      const page = newId('page', Date.now());
      await store.write(async ({ db, now }) => {
        await db.updateTable('workspaces').set({ drift: 'drifted', drift_checked_at: 5 }).execute();
        const row = { id: page, topic: 't', kind: 'job', state: 'sending', job_id: null, approval_id: null } as const;
        await db
          .insertInto('pages')
          .values({
            ...row,
            detail: toJson({ kind: 'test', by: 'x' }),
            reason: null,
            followed: 0,
            created_at: now,
            burst: null,
          })
          .execute();
        const delivery = { page_id: page, target: 'ntfy', daemon_id: 'd', attempts: 0, next_at: 0 };
        await db
          .insertInto('deliveries')
          .values({ ...delivery, state: 'waiting', failure: null, settled_at: null })
          .execute();
        await db
          .insertInto('armed_jobs')
          .values({ job_id: 'job_x', armed_by: 'a', owner: 'a', armed_at: now, done_at: null })
          .execute();
      });

      const { settled } = await settle(store);

      assert.equal(settled.deliveries, 1);
      assert.deepEqual(await store.db.selectFrom('sessions').select('id').execute(), []);
      const [workspace] = await store.db.selectFrom('workspaces').selectAll().execute();
      assert.deepEqual([workspace?.drift, workspace?.drift_checked_at], ['unknown', null]);
      const [delivery] = await store.db.selectFrom('deliveries').selectAll().execute();
      assert.deepEqual([delivery?.state, delivery?.failure], ['dead', 'restored from backup']);
      const pages = await store.db.selectFrom('pages').select(['state', 'followed']).execute();
      assert.deepEqual(
        pages.map((each) => ({ ...each })),
        [{ state: 'done', followed: 1 }],
      );
      const armed = await store.db.selectFrom('armed_jobs').select('done_at').execute();
      assert.ok(armed.every(({ done_at: at }) => at !== null));
      assert.equal((await store.db.selectFrom('tokens').select('id').execute()).length, 1, 'tokens are kept');
    });

    test('skips the slots of schedules that have passed, and keeps those to come', async () => {
      const { store } = fresh;
      await addSchedule(store, { name: 'past', next_at: Date.now() - DAY_MS, last_job_id: null });
      const later = Date.now() + DAY_MS;
      await addSchedule(store, { name: 'later', next_at: later });
      await settle(store);
      const rows = await store.db.selectFrom('schedules').select(['name', 'next_at']).orderBy('name').execute();
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        [
          { name: 'later', next_at: later },
          { name: 'past', next_at: null },
        ],
      );
    });
  });
}
