import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { INITIAL_STATES, JOB_MOVES, JOB_STATES, type JobState } from '../../../src/domain/jobs/job.ts';
import { cancelWaiting, claimJobs, finishJob, queueApproved } from '../../../src/store/jobs/claims.ts';
import type { Tx } from '../../../src/store/engine/tx.ts';
import {
  countPrivileged,
  countWritable,
  findJob,
  getJob,
  hasClaimable,
  insertJob,
  listJobs,
  requestCancel,
} from '../../../src/store/jobs/jobs.ts';
import { findRedrive, listRedrivable, listRedriveExclusions } from '../../../src/store/jobs/redrive.ts';
import type { Store } from '../../../src/store/store.ts';
import { claim, claimOne, ENGINES, enqueue, freshStore, makeJob, stateOf, wipe } from '../engine-fixture.ts';

const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'migrations');

/** How the store makes each move of the table. */
const MOVERS: Partial<Record<`${JobState}->${JobState}`, (tx: Tx, id: string) => Promise<boolean>>> = {
  'awaiting_approval->queued': (tx, id) => queueApproved(tx, id),
  'awaiting_approval->cancelled': (tx, id) => cancelWaiting(tx, id, 'awaiting_approval'),
  'queued->cancelled': (tx, id) => cancelWaiting(tx, id, 'queued'),
  'queued->running': async (tx) => (await claimJobs(tx, 'dmn_a', 1)).length === 1,
  ...Object.fromEntries(
    JOB_MOVES.running.map((state) => [
      `running->${state}`,
      (tx: Tx, jobId: string) => finishJob(tx, { jobId, daemonId: 'dmn_a', generation: 1 }, { state, exitCode: 0 }),
    ]),
  ),
};

async function putInState(store: Store, state: JobState): Promise<string> {
  const id = await enqueue(store);
  await store.write(async ({ db }) => {
    await db.updateTable('jobs').set({ state, daemon_id: 'dmn_a', lease_generation: 1 }).where('id', '=', id).execute();
  });
  return id;
}

for (const engine of ENGINES) {
  describe(`Jobs on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('A job is read as it was inserted, with the same types on both databases', async () => {
      const job = makeJob({
        workspace: 'net',
        concurrencyKey: 'workspace:net',
        privileged: true,
        owners: ['ana', 'bob'],
        spec: '{"a":"ü"}',
      });
      await its.store.write((tx) => insertJob(tx, job));
      const row = await getJob(its.store.db, job.id);
      const { order_tag: tag, order_key_id: keyId } = row;
      assert.match(`${tag} ${keyId}`, /^[0-9a-f]{64} [0-9a-f]{16}$/, 'an order is tagged');
      assert.deepEqual(
        { ...row },
        {
          id: job.id,
          kind: 'command',
          state: 'queued',
          initial_state: 'queued',
          runbook: 'command:true',
          source: null,
          trigger: 'api',
          workspace: 'net',
          concurrency_key: 'workspace:net',
          blocked: 0,
          privileged: 1,
          created_at: job.createdAt,
          started_at: null,
          finished_at: null,
          expires_at: null,
          exit_code: null,
          requested_by: 'ana',
          owners: '["ana","bob"]',
          redrive_of: null,
          pinned: null,
          because: null,
          plan_artifact_id: null,
          spec: '{"a":"ü"}',
          timeout_ms: 60_000,
          progress: null,
          daemon_id: null,
          lease_generation: 0,
          leader_pid: null,
          leader_start: null,
          outcome_event_id: null,
          drift_status: null,
          order_tag: tag,
          order_key_id: keyId,
          writable: 0,
          summary: null,
          cancel_requested_at: null,
          reason: null,
          rerun_of: null,
          node: null,
        },
      );
    });

    test('An unknown id is not found', async () => {
      assert.equal(await findJob(its.store.db, 'job_none'), undefined);
      await assert.rejects(
        getJob(its.store.db, 'job_none'),
        (error) => error instanceof Failure && error.code === 'not_found',
      );
    });

    test('Lists are newest first, and the cursor continues without a gap and without a repeat', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 7; n += 1) ids.push(await enqueue(its.store));
      const seen: string[] = [];
      for (let before: string | undefined; ; before = seen.at(-1)) {
        const page = await listJobs(its.store.db, { before }, 3);
        seen.push(...page.map((job) => job.id));
        if (page.length < 3) break;
      }
      assert.deepEqual(seen, ids.toReversed());
    });

    test('Each filter, and all together, show exactly what they name', async () => {
      const plain = await enqueue(its.store);
      const other = await enqueue(its.store, { runbook: 'rule:disk' });
      const keyed = await enqueue(its.store, { runbook: 'rule:disk', concurrencyKey: 'k' });
      const waiting = await enqueue(its.store, { state: 'awaiting_approval', concurrencyKey: 'k' });
      const ids = async (filter: Parameters<typeof listJobs>[1]) =>
        (await listJobs(its.store.db, filter, 10)).map((job) => job.id);
      assert.deepEqual(await ids({}), [waiting, keyed, other, plain]);
      assert.deepEqual(await ids({ state: 'awaiting_approval' }), [waiting]);
      assert.deepEqual(await ids({ runbook: 'rule:disk' }), [keyed, other]);
      assert.deepEqual(await ids({ runbook: 'rule:dis' }), []);
      assert.deepEqual(await ids({ concurrencyKey: 'k' }), [waiting, keyed]);
      assert.deepEqual(await ids({ concurrencyKey: 'k', state: 'queued', runbook: 'rule:disk', before: waiting }), [
        keyed,
      ]);
    });

    test('Running and privileged jobs are counted as numbers', async () => {
      await enqueue(its.store, { privileged: true, createdAt: 1_000 });
      await enqueue(its.store, { privileged: true, createdAt: 2_000 });
      assert.equal(await countPrivileged(its.store.db, 1_500), 1);
      const spec = '{"writable":["/srv/cache"]}';
      await enqueue(its.store, { spec, createdAt: 1_000 });
      await enqueue(its.store, { spec, createdAt: 2_000 });
      assert.equal(await countWritable(its.store.db, 1_500), 1);
    });

    test('A job is claimable exactly while it is queued and first for its key', async () => {
      assert.equal(await hasClaimable(its.store.db, 'dmn_a'), false);
      await enqueue(its.store, { concurrencyKey: 'k' });
      await enqueue(its.store, { concurrencyKey: 'k' });
      assert.equal(await hasClaimable(its.store.db, 'dmn_a'), true);
      await claim(its.store, 5);
      assert.equal(await hasClaimable(its.store.db, 'dmn_a'), false);
    });

    test('A job is redriven once: the second new job for it is refused by the database', async () => {
      const old = await putInState(its.store, 'interrupted');
      const made = await enqueue(its.store, { redriveOf: old, trigger: 'redrive' });
      assert.deepEqual(
        (await listRedrivable(its.store.db, { states: ['interrupted'], ids: null })).map((job) => job.id),
        [old],
      );
      assert.equal((await findRedrive(its.store.db, old))?.id, made);
      await assert.rejects(
        enqueue(its.store, { redriveOf: old }),
        (error) => its.store.dialect.faultOf(error) === 'unique',
      );
    });

    test('What a redrive leaves out is listed once each, with its reason', async () => {
      const [plain, step, gated, planned] = [
        await putInState(its.store, 'interrupted'),
        await putInState(its.store, 'interrupted'),
        await putInState(its.store, 'interrupted'),
        await putInState(its.store, 'interrupted'),
      ];
      await its.store.write(async ({ db }) => {
        const change = (id: string, values: object) =>
          db.updateTable('jobs').set(values).where('id', '=', id).execute();
        await change(step, { trigger: 'workflow', initial_state: 'awaiting_approval' });
        await change(gated, { initial_state: 'awaiting_approval' });
        await change(planned, { kind: 'apply', plan_artifact_id: 'art_1' });
      });
      const all = { states: ['interrupted'], ids: null } as const;
      assert.deepEqual(
        (await listRedrivable(its.store.db, all)).map((job) => job.id),
        [plain],
      );
      const left = await listRedriveExclusions(its.store.db, all);
      assert.deepEqual(
        left.map(({ id, reason }) => [id, reason.split(/[ ;]/).slice(0, 2).join(' ')]),
        [
          [step, 'step of'],
          [gated, 'needed an'],
          [planned, 'applied a'],
        ],
      );
      const only = { states: ['interrupted'], ids: [gated] } as const;
      assert.deepEqual(await listRedrivable(its.store.db, only), []);
      assert.equal((await listRedriveExclusions(its.store.db, only)).length, 1);
    });

    test('A cancel is requested once, and only of a running job', async () => {
      const queued = await enqueue(its.store);
      assert.equal(await its.store.write((tx) => requestCancel(tx, queued)), false);
      await claim(its.store, 1);
      assert.equal(await its.store.write((tx) => requestCancel(tx, queued)), true);
      assert.equal(await its.store.write((tx) => requestCancel(tx, queued)), false);
    });

    for (const [from, targets] of Object.entries(JOB_MOVES)) {
      for (const to of targets) {
        test(`The move ${from} to ${to} is made from ${from} and from no other state`, async () => {
          const move = MOVERS[`${from}->${to}` as keyof typeof MOVERS];
          assert.ok(move !== undefined, 'The table has a move that the store has no function for.');
          for (const state of JOB_STATES) {
            await wipe(its.store);
            const id = await putInState(its.store, state);
            const moved = await its.store.write((tx): Promise<boolean> => move(tx, id));
            assert.equal(moved, state === from, `from ${state}`);
            assert.equal(await stateOf(its.store, id), state === from ? to : state);
          }
        });
      }
    }

    test('A run that ended cannot be ended a second time', async () => {
      const id = await enqueue(its.store);
      const fence = await claimOne(its.store);
      assert.equal(await its.store.write((tx) => finishJob(tx, fence, { state: 'succeeded', exitCode: 0 })), true);
      assert.equal(await its.store.write((tx) => finishJob(tx, fence, { state: 'failed', exitCode: 1 })), false);
      assert.equal(await stateOf(its.store, id), 'succeeded');
    });
  });
}

describe('The constraint of the migrations', () => {
  for (const dialect of ['sqlite', 'postgres']) {
    test(`names exactly the states of the table (${dialect})`, () => {
      const text = readFileSync(join(MIGRATIONS, dialect, '0001_foundation.sql'), 'utf8');
      const named = (column: string): string[] => {
        const list =
          new RegExp(`^  ${column} text not null check \\(${column} in \\(([^)]*)\\)\\)`, 'm').exec(text)?.[1] ?? '';
        return list
          .split(',')
          .map((each) => each.replaceAll("'", ''))
          .toSorted();
      };
      assert.deepEqual(named('state'), JOB_STATES.toSorted());
      assert.deepEqual(named('initial_state'), INITIAL_STATES.toSorted());
    });
  }
});
