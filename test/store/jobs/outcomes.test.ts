/** The ends of jobs become events, on each database: however they end, once each, and never in a circle. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { recordOutcomes } from '../../../src/daemon/events/job-outcome-events.ts';
import { CHAIN_MAX } from '../../../src/domain/events/event.ts';
import type { FinalState } from '../../../src/domain/jobs/job.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import { decodeTrace } from '../../../src/reaction/trace.ts';
import { cancelWaiting, finishJob } from '../../../src/store/jobs/claims.ts';
import { countEvents } from '../../../src/store/events/events.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import { noteDrift } from '../../../src/store/jobs/outcomes.ts';
import type { EventRow, JobRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, reactionOf } from '../../support/fixtures/reaction.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { noteWork } from '../../support/statements.ts';
import { claimOne, enqueue, ENGINES, freshStore, makeJob } from '../engine-fixture.ts';

const SELF = 'dmn_a';

/** Ends the job that is next in the queue. */
async function run(store: Store, state: FinalState): Promise<string> {
  const fence = await claimOne(store, SELF);
  await store.write((tx) => finishJob(tx, fence, { state, exitCode: state === 'succeeded' ? 0 : 1 }));
  return fence.jobId;
}

function tell(reaction: ReactionDeps, self = SELF): Promise<void> {
  const signals = { emit: (_name: string, detail: unknown) => assert.fail(JSON.stringify(detail)) };
  return recordOutcomes({ reaction, self: () => self, signals: signals as never });
}

function events(store: Store): Promise<EventRow[]> {
  return store.db.selectFrom('events').selectAll().orderBy('id').execute();
}

for (const engine of ENGINES) {
  describe(`The end of a job on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReactionDeps;
    beforeEach(() => {
      store = its.store;
      deps = reactionOf(store);
    });

    test('T80: fires no rule and tells people nothing where somebody wrote or changed the row', async () => {
      await addRule(deps, 'any', { when: 'event.source == "job-outcome"' });
      const id = await enqueue(store, {});
      const forged = { state: 'failed', finished_at: 1, runbook: 'Call 555' } as const;
      await store.write(({ db }) => db.updateTable('jobs').set(forged).where('id', '=', id).execute());
      await tell(deps);
      const [event, ...more] = await events(store);
      assert.deepEqual([event?.outcome, event?.rule, event?.job_id, more], ['error', null, null, []]);
      assert.match(event?.reason ?? '', /its order was not made by this service/);
      assert.deepEqual(await store.db.selectFrom('pages').selectAll().execute(), []);
    });

    test('T80: fires no rule for the end of a job that needed an approval and got none', async () => {
      const { jobId } = await gate(store, { planned: false });
      const forged = { state: 'succeeded', finished_at: 1 } as const;
      await store.write(({ db }) => db.updateTable('jobs').set(forged).where('id', '=', jobId).execute());
      await tell(deps);
      const [event, ...more] = await events(store);
      assert.deepEqual([event?.outcome, event?.rule, more], ['error', null, []]);
      assert.match(event?.reason ?? '', /it needed an approval and has none/);
    });

    test('names in its steps the mute that covers its notification, if there would be one', async () => {
      const mute = {
        id: 'mute_1',
        scope_kind: 'global',
        scope_value: null,
        reason: null,
        created_by: 'mia',
        created_via: 'cli',
        created_at: 0,
        expires_at: Date.now() + 60_000,
        ended_at: null,
      } as const;
      await store.write((tx) => insertMute(tx, mute));
      for (const state of ['failed', 'succeeded'] as const) {
        await enqueue(store, {});
        await run(store, state);
      }
      await tell(deps);
      const [failed, succeeded] = (await events(store)).map(({ trace }) => decodeTrace(trace).steps);
      assert.deepEqual(failed, [
        { step: 'page', rule: null, result: 'stopped', why: 'Notification suppressed by mute mute_1.' },
      ]);
      assert.deepEqual(succeeded, []);
      const pages = await store.db.selectFrom('pages').select(['state', 'reason']).execute();
      assert.deepEqual(
        pages.map((each) => ({ ...each })),
        [{ state: 'held', reason: 'held by mute_1' }],
      );
    });

    test('is an event of job-outcome: resolved for a success or degraded end, no status for a cancel, else firing', async () => {
      const states = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted'] as const;
      for (const state of states) {
        await enqueue(store, { runbook: 'plan:net', kind: 'plan', workspace: 'net' });
        await run(store, state);
      }
      await tell(deps);
      const answer = (await events(store)).map(({ source, name, status, severity, fingerprint, depth }) => [
        source,
        name,
        status,
        severity,
        fingerprint,
        depth,
      ]);
      const head = ['job-outcome', 'plan:net'];
      assert.deepEqual(answer, [
        [...head, 'resolved', 'info', 'job:plan:net', 1],
        [...head, 'resolved', 'warning', 'job:plan:net', 1],
        [...head, 'firing', 'error', 'job:plan:net', 1],
        [...head, null, 'info', 'job:plan:net', 1],
        [...head, 'firing', 'error', 'job:plan:net', 1],
      ]);
    });

    test('names the job, its kind, its state and its workspace in the labels', async () => {
      await enqueue(store, { runbook: 'plan:net', kind: 'plan', workspace: 'net' });
      const planned = await run(store, 'succeeded');
      await enqueue(store);
      const commanded = await run(store, 'failed');
      await tell(deps);
      assert.deepEqual(
        (await events(store)).map(({ labels }) => JSON.parse(labels) as object),
        [
          { job_id: planned, kind: 'plan', state: 'succeeded', workspace: 'net' },
          { job_id: commanded, kind: 'command', state: 'failed' },
        ],
      );
    });

    test('is an event also where the job never ran: a cancel, a decision or a deadline ended it', async () => {
      const queued = await enqueue(store);
      const gated = await enqueue(store, { state: 'awaiting_approval' });
      await store.write(async (tx) => {
        await cancelWaiting(tx, queued, 'queued');
        await cancelWaiting(tx, gated, 'awaiting_approval');
      });
      await tell(deps);
      assert.deepEqual(
        (await events(store)).map(({ labels }) => (JSON.parse(labels) as { job_id: string }).job_id),
        [queued, gated],
      );
    });

    test('becomes one event when two daemons see it at the same time, and no further one later', async () => {
      for (let n = 0; n < 60; n += 1) {
        const id = await enqueue(store);
        await store.write((tx) => cancelWaiting(tx, id, 'queued'));
      }
      const other = reactionOf(await its.database.open());
      await Promise.all([tell(deps), tell(other, 'dmn_b')]);
      await Promise.all([tell(deps), tell(other, 'dmn_b')]);
      const ids = (await events(store)).map(({ labels }) => labels);
      assert.deepEqual([ids.length, new Set(ids).size], [60, 60]);
      assert.equal((await countEvents(store.db)).ignored, 60);
    });

    test('of a job that another daemon ran is left to that one for two seconds, and then recorded', async () => {
      await enqueue(store);
      await run(store, 'succeeded');
      await tell(deps, 'dmn_b');
      assert.deepEqual(await events(store), []);
      await store.write((tx) =>
        tx.db
          .updateTable('jobs')
          .set((eb) => ({ finished_at: eb('finished_at', '-', 2_001) }))
          .execute(),
      );
      await tell(deps, 'dmn_b');
      assert.equal((await events(store)).length, 1);
    });

    test('is recorded after the store refused it once, and nothing is recorded twice', async () => {
      await addRule(deps, 'again', { when: 'event.source == "job-outcome"' });
      await enqueue(store);
      await run(store, 'failed');
      let refusals = 1;
      const flaky: Store = {
        ...store,
        write: (work) =>
          store.write(async (tx) => {
            const value = await work(tx);
            if ((refusals -= 1) >= 0) throw new Error('the power went away');
            return value;
          }),
      };
      const emitted: unknown[] = [];
      const signals = { emit: (_name: string, detail: unknown) => emitted.push(detail) };
      const outcomes = { reaction: { ...deps, store: flaky }, self: () => SELF, signals: signals as never };
      refusals = 2;
      await assert.rejects(recordOutcomes(outcomes), /the power went away/);
      assert.deepEqual([(await events(store)).length, emitted.length], [0, 1]);
      await recordOutcomes(outcomes);
      assert.deepEqual(
        (await events(store)).map(({ outcome }) => outcome),
        ['fired'],
      );
    });

    test('F23: that cannot be handled is recorded as an error, and does not hold up the others', async () => {
      const broken = await enqueue(store);
      await enqueue(store);
      await run(store, 'failed');
      await run(store, 'failed');
      await store.write((tx) =>
        tx.db
          .updateTable('jobs')
          .set({ owners: 'no JSON' as JobRow['owners'] })
          .where('id', '=', broken)
          .execute(),
      );
      const unended = await enqueue(store);
      await store.write((tx) => tx.db.updateTable('jobs').set({ finished_at: 1 }).where('id', '=', unended).execute());
      const emitted: unknown[] = [];
      await recordOutcomes({
        reaction: deps,
        self: () => SELF,
        signals: { emit: (_name: string, detail: unknown) => emitted.push(detail) } as never,
      });
      const answer = await events(store);
      assert.deepEqual(answer.map(({ outcome }) => outcome).toSorted(), ['error', 'error', 'ignored']);
      assert.deepEqual(answer.flatMap(({ outcome, reason }) => (outcome === 'error' ? [reason] : [])).toSorted(), [
        `The end of ${broken} could not be handled: a fault of the service.`,
        `The end of ${unended} could not be handled: its row has an end time, but not the state of an ended job.`,
      ]);
      assert.equal(emitted.length, 1);
    });

    test(`stops a circle of rules after ${CHAIN_MAX} jobs, and says loop`, async () => {
      await addRule(deps, 'again', { when: 'event.source == "job-outcome"' });
      const first = await enqueue(store, { owners: ['mia'], requestedBy: 'mia' });
      const ran: string[] = [];
      for (let n = 0; n < 10; n += 1) {
        if ((await store.db.selectFrom('jobs').select('id').where('state', '=', 'queued').execute()).length === 0)
          break;
        ran.push(await run(store, 'failed'));
        await tell(deps);
      }
      assert.deepEqual([ran.length, ran[0]], [1 + CHAIN_MAX, first]);
      assert.deepEqual(
        (await events(store)).map(({ depth, outcome, reason }) => [
          depth,
          outcome,
          outcome === 'suppressed' ? reason : '',
        ]),
        [
          [1, 'fired', ''],
          [2, 'fired', ''],
          [3, 'fired', ''],
          [4, 'suppressed', 'loop'],
        ],
      );
      const last = await store.db
        .selectFrom('jobs')
        .select(['owners', 'requested_by', 'runbook'])
        .where('id', '=', ran.at(-1) ?? '')
        .executeTakeFirstOrThrow();
      assert.deepEqual({ ...last }, { owners: '["mia","rolf"]', requested_by: 'mia', runbook: 'rule:again' });
    });

    test('of a drift run has a second event, if its drift was recorded', async () => {
      const job = makeJob({ kind: 'drift', runbook: 'drift:net', workspace: 'net' });
      await enqueue(store, job);
      const fence = await claimOne(store, SELF);
      await store.write(async (tx) => {
        await finishJob(tx, fence, { state: 'succeeded', exitCode: 2 });
        await noteDrift(tx, job.id, 'firing');
      });
      await tell(deps);
      assert.deepEqual(
        (await events(store))
          .map(({ source, name, status, fingerprint, labels }) => [source, name, status, fingerprint, labels])
          .slice(1),
        [['drift', 'net', 'firing', 'drift:net', '{"workspace":"net"}']],
      );
    });

    test('is found without reading the jobs whose end is recorded', { skip: engine.name !== 'SQLite' }, async (t) => {
      const { statements } = noteWork(t);
      await tell(deps);
      const looks = statements.filter((text) => text.includes('outcome_event_id is null'));
      assert.equal(looks.length, 1);
      const plan = await sql<{ detail: string }>`explain query plan ${sql.raw(looks[0] ?? '')}`.execute(store.db);
      assert.deepEqual(
        plan.rows.map(({ detail }) => detail),
        ['SCAN jobs USING INDEX jobs_untold'],
      );
    });
  });
}
