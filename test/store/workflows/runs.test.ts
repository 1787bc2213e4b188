/** The rows of workflows, their runs and steps, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import type { CommandAction } from '../../../src/domain/commands/action.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { findEventOfJob, insertEvent, listFires, recordFire } from '../../../src/store/events/events.ts';
import { advanceRun, type WorkflowDeps } from '../../../src/jobs/workflows/advance.ts';
import { cancelWaiting, claimJobs } from '../../../src/store/jobs/claims.ts';
import { insertJob } from '../../../src/store/jobs/jobs.ts';
import { checkTag } from '../../../src/store/engine/tags/tags.ts';
import { TAGGED_ALL } from '../../support/seal.ts';
import {
  endRun,
  endStep,
  findStepOfJob,
  getRun,
  insertRun,
  interruptRuns,
  listDueRuns,
  listRuns,
  listSteps,
  type NewRun,
  noteUnfinished,
  requestRunCancel,
  startStep,
  stateOfStep,
} from '../../../src/store/workflows/runs.ts';
import {
  deleteWorkflow,
  getWorkflow,
  insertWorkflow,
  listWorkflows,
  type NewWorkflow,
  replaceWorkflow,
} from '../../../src/store/workflows/workflows.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventRow } from '../../support/fixtures/events.ts';
import { noteWork } from '../../support/statements.ts';
import { ENGINES, enqueue, freshStore, makeJob } from '../engine-fixture.ts';

const ACTION = { kind: 'command', command: ['x'], inventory: 'localhost', limit: null, timeout: null } as const;
const STEP = { name: 'a', needs: [], when: null, approval: 'none', approvalTtlMs: null } as const;

const definition = (more: Partial<CommandAction> = {}): NewWorkflow['definition'] =>
  toJson({ steps: [{ ...STEP, action: { ...ACTION, ...more } }] });

const workflow = (name: string, some: Partial<NewWorkflow> = {}): NewWorkflow => ({
  name,
  definition: definition(),
  owners: toJson(['ana']),
  added_by: 'ana',
  ...some,
});

const ADVANCE: WorkflowDeps = {
  approvalTtlMs: 60_000,
  wake: () => undefined,
  queueAction: () => assert.fail('a cancelled run queues nothing'),
};
const step = (id: string) => ({ id, trigger: 'workflow' }) as const;

const newRun = (some: Partial<NewRun> = {}): NewRun => ({
  id: newId('wfr', Date.now()),
  workflow: 'patch',
  definition: definition(),
  trigger: 'cli',
  origin: 'manual',
  event_id: null,
  rule: null,
  matched_at: null,
  schedule: null,
  requested_by: 'ana',
  owners: toJson(['ana']),
  resumes: null,
  because: null,
  ...some,
});

const waiting = (name: string) => ({ name, state: 'waiting', job_id: null, taken_from: null, reason: null }) as const;

/** A run whose steps wait; answers its id. */
async function addRun(store: Store, names: readonly string[], some: Partial<NewRun> = {}): Promise<string> {
  const run = newRun(some);
  await store.write((tx) => insertRun(tx, run, names.map(waiting)));
  return run.id;
}

async function statesOf(store: Store, id: string): Promise<Record<string, string>> {
  return Object.fromEntries((await listSteps(store.db, id)).map((step) => [step.name, stateOfStep(step)]));
}

for (const engine of ENGINES) {
  describe(`Workflows on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are kept by name, replaced whole, and removed without their runs', async () => {
      const { store } = its;
      await store.write((tx) => insertWorkflow(tx, workflow('patch')));
      await store.write((tx) => insertWorkflow(tx, workflow('check')));
      const id = await addRun(store, ['a']);
      await assert.rejects(
        store.write((tx) => insertWorkflow(tx, workflow('patch'))),
        /a workflow with the name patch already exists/,
      );
      const replaced = await store.write((tx) =>
        replaceWorkflow(tx, workflow('patch', { owners: toJson(['ben']), definition: definition({ command: ['y'] }) })),
      );
      assert.equal(replaced?.owners, '["ben"]');
      assert.equal(await store.write((tx) => replaceWorkflow(tx, workflow('other'))), undefined);
      assert.deepEqual(
        (await listWorkflows(store.db)).map(({ name }) => name),
        ['check', 'patch'],
      );
      await store.write((tx) => deleteWorkflow(tx, 'patch'));
      await assert.rejects(getWorkflow(store.db, 'patch'), /no workflow patch/);
      await assert.rejects(
        store.write((tx) => deleteWorkflow(tx, 'patch')),
        /no workflow patch/,
      );
      assert.equal((await getRun(store.db, id)).workflow, 'patch');
    });

    test('with a privileged step are tagged, and a changed one is refused', async () => {
      const { store } = its;
      const privileged = definition({ privileged: true });
      const row = await store.write((tx) => insertWorkflow(tx, workflow('patch', { definition: privileged })));
      await checkTag(TAGGED_ALL, 'workflows', row);
      await assert.rejects(
        checkTag(TAGGED_ALL, 'workflows', { ...row, owners: toJson(['eve']) }),
        /workflow patch was changed/,
      );
      const run = await store.write((tx) => insertRun(tx, newRun({ definition: privileged }), []));
      await checkTag(TAGGED_ALL, 'workflow_runs', run);
      await assert.rejects(
        checkTag(TAGGED_ALL, 'workflow_runs', { ...run, origin: 'alert' }),
        /workflow run .* was changed/,
      );
      const plain = await store.write((tx) => insertWorkflow(tx, workflow('check')));
      await assert.rejects(checkTag(TAGGED_ALL, 'workflows', { ...plain, definition: privileged }), /was changed/);
      const none = { order_tag: null, order_key_id: null };
      await assert.rejects(checkTag(TAGGED_ALL, 'workflows', { ...plain, ...none }), /workflow check has no tag/);
    });

    test('have runs, newest first, whose steps are in the order of the file', async () => {
      const { store } = its;
      const first = await addRun(store, ['b', 'a', 'c']);
      const second = await addRun(store, ['a'], { workflow: 'other' });
      assert.deepEqual(
        (await listRuns(store.db, null, 10)).map(({ id }) => id),
        [second, first],
      );
      assert.deepEqual(
        (await listRuns(store.db, 'patch', 10)).map(({ id }) => id),
        [first],
      );
      assert.deepEqual(
        (await listSteps(store.db, first)).map(({ name }) => name),
        ['b', 'a', 'c'],
      );
    });

    test('start a step once, and it shows the state of its job until its end is recorded', async () => {
      const { store } = its;
      const id = await addRun(store, ['a', 'b']);
      const step = { run_id: id, name: 'a' };
      const [job, other] = [await enqueue(store), await enqueue(store)];
      const starts = await Promise.all([job, other].map((each) => store.write((tx) => startStep(tx, step, each))));
      assert.equal(starts.filter(Boolean).length, 1);
      assert.deepEqual(await statesOf(store, id), { a: 'queued', b: 'waiting' });
      const { run_id, name } = (await findStepOfJob(store.db, job)) ?? assert.fail();
      assert.deepEqual({ run_id, name }, step);
      assert.equal(await findStepOfJob(store.db, other), undefined);
      await store.write((tx) => cancelWaiting(tx, job, 'queued'));
      assert.deepEqual(await statesOf(store, id), { a: 'cancelled', b: 'waiting' });
      const end = { state: 'cancelled', reason: null } as const;
      assert.equal(await store.write((tx) => endStep(tx, step, 'waiting', end)), false);
      assert.equal(await store.write((tx) => endStep(tx, step, 'started', end)), true);
      assert.equal(await store.write((tx) => endStep(tx, step, 'started', end)), false);
      assert.equal(await store.write((tx) => startStep(tx, step, other)), false);
    });

    test('refuse a job that is of another step already, unless its result is only taken', async () => {
      const { store } = its;
      const [first, second] = [await addRun(store, ['a']), await addRun(store, ['a'])];
      const job = await enqueue(store);
      await store.write((tx) => startStep(tx, { run_id: first, name: 'a' }, job));
      await assert.rejects(store.write((tx) => startStep(tx, { run_id: second, name: 'a' }, job)));
      const taken = { ...waiting('a'), state: 'succeeded', job_id: job, taken_from: first } as const;
      await store.write((tx) => insertRun(tx, newRun({ resumes: first }), [taken]));
      assert.equal((await findStepOfJob(store.db, job))?.run_id, first);
    });

    test('are due where a job has ended or a pass left something to do, until they have ended', async () => {
      const { store } = its;
      const [ended, left, idle] = [await addRun(store, ['a']), await addRun(store, ['a']), await addRun(store, ['a'])];
      const [job, open] = [await enqueue(store), await enqueue(store)];
      await store.write((tx) => startStep(tx, { run_id: ended, name: 'a' }, job));
      await store.write((tx) => startStep(tx, { run_id: idle, name: 'a' }, open));
      assert.deepEqual(await listDueRuns(store.db, 10), []);
      await store.write((tx) => cancelWaiting(tx, job, 'queued'));
      await store.write((tx) => noteUnfinished(tx, left, true));
      assert.deepEqual(await listDueRuns(store.db, 10), [ended, left]);
      assert.deepEqual(await listDueRuns(store.db, 1), [ended]);
      await store.write((tx) =>
        endStep(tx, { run_id: ended, name: 'a' }, 'started', { state: 'cancelled', reason: null }),
      );
      assert.deepEqual(await listDueRuns(store.db, 10), [left]);
      assert.equal(await store.write((tx) => endRun(tx, left, 'failed')), true);
      assert.equal(await store.write((tx) => endRun(tx, left, 'succeeded')), false);
      assert.deepEqual(await listDueRuns(store.db, 10), []);
      assert.deepEqual(
        [(await getRun(store.db, left)).state, await store.write((tx) => requestRunCancel(tx, left))],
        ['failed', false],
      );
      assert.deepEqual(
        [await store.write((tx) => requestRunCancel(tx, idle)), await store.write((tx) => requestRunCancel(tx, idle))],
        [true, false],
      );
    });

    test('that are cancelled ask each running job once, and leave nothing to do until one ends', async () => {
      const { store } = its;
      const names = Array.from({ length: 60 }, (_, at) => `s${at}`);
      const id = await addRun(store, names);
      const jobs = names.map(() => makeJob({ trigger: 'workflow' }));
      await store.write(async (tx) => {
        for (const [at, job] of jobs.entries()) {
          await insertJob(tx, job);
          await startStep(tx, { run_id: id, name: names[at]! }, job.id);
        }
        assert.equal((await claimJobs(tx, 'd', 60)).length, 60);
        await requestRunCancel(tx, id);
      });
      const passes: unknown[] = [];
      do {
        await store.write((tx) => advanceRun(tx, ADVANCE, id));
        const asked = store.db.selectFrom('jobs').select('id').where('cancel_requested_at', 'is not', null);
        passes.push((await asked.execute()).length);
      } while (passes.length < 5 && (await listDueRuns(store.db, 10)).length > 0);
      assert.deepEqual(passes, [50, 60]);
    });

    test('are looked for by indexes', { skip: engine.name !== 'SQLite' }, async (t) => {
      const { store } = its;
      const { statements } = noteWork(t);
      await listDueRuns(store.db, 10);
      await findEventOfJob(store.db, step('job_x'));
      await listFires(store.db, { rule: 'r', fingerprint: 'f' });
      const looks = [...statements];
      assert.equal(looks.length, 3);
      for (const text of looks) {
        const plan = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(store.db);
        const scans = plan.rows.map(({ detail }) => detail).filter((each) => each.startsWith('SCAN'));
        const open = scans.filter((each) => !/USING (COVERING )?INDEX workflow_(steps_started|runs_open)/.test(each));
        assert.deepEqual(open, [], text);
      }
    });

    test('lead from the job of a step to the event that started the run, and count as its job', async () => {
      const { store } = its;
      const event = eventRow();
      const id = await addRun(store, ['a', 'b'], { origin: 'alert', event_id: event.id, rule: 'r' });
      const [first, second] = [await enqueue(store), await enqueue(store)];
      await store.write(async (tx) => {
        insertEvent(tx, { ...event, job_id: first, depth: 2 });
        recordFire(tx, { rule: 'r', fingerprint: 'f', status: 'firing', firedAt: 1, jobId: first });
        await startStep(tx, { run_id: id, name: 'a' }, first);
        await startStep(tx, { run_id: id, name: 'b' }, second);
      });
      for (const job of [first, second])
        assert.deepEqual({ ...(await findEventOfJob(store.db, step(job))) }, { id: event.id, depth: 2 });
      assert.equal(await findEventOfJob(store.db, step(await enqueue(store))), undefined);
      const fire = async () => (await listFires(store.db, { rule: 'r', fingerprint: 'f' }))[0]?.job_state;
      await store.write((tx) => cancelWaiting(tx, first, 'queued'));
      assert.equal(await fire(), 'running', 'the run is open');
      await store.write((tx) => endRun(tx, id, 'failed'));
      assert.equal(await fire(), 'failed');
    });

    test('are interrupted as a whole in a restored store', async () => {
      const { store } = its;
      const [open, over] = [await addRun(store, ['a', 'b', 'c']), await addRun(store, [])];
      await store.write((tx) => endRun(tx, over, 'succeeded'));
      const [gone, ended] = [await enqueue(store), await enqueue(store)];
      await store.write(async (tx) => {
        await startStep(tx, { run_id: open, name: 'a' }, gone);
        await startStep(tx, { run_id: open, name: 'b' }, ended);
        await cancelWaiting(tx, ended, 'queued');
      });
      assert.equal(await store.write((tx) => interruptRuns(tx, 'restored from backup')), 1);
      assert.equal((await getRun(store.db, open)).state, 'interrupted');
      assert.equal((await getRun(store.db, over)).state, 'succeeded');
      assert.deepEqual(await statesOf(store, open), { a: 'interrupted', b: 'cancelled', c: 'cancelled' });
      assert.deepEqual(await listDueRuns(store.db, 10), []);
    });
  });
}
