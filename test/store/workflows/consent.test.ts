/** T85: a no ends the run that it was said to, as a forged row does; before the first yes no gated step runs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expireOnce } from '../../../src/daemon/approvals/expire.ts';
import type { StepAction } from '../../../src/domain/rules/step-actions.ts';
import type { Step as WorkflowStep } from '../../../src/domain/workflows/workflow.ts';
import { cancelJob } from '../../../src/jobs/cancel.ts';
import { queueOrAsk } from '../../../src/jobs/queue.ts';
import { advanceRun, type WorkflowDeps } from '../../../src/jobs/workflows/advance.ts';
import { consentOf } from '../../../src/jobs/workflows/consent.ts';
import { startRun } from '../../../src/jobs/workflows/start.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { decide } from '../../../src/operations/approvals/decide.ts';
import { NOT_LOOKED } from '../../../src/operations/approvals/pinned-files.ts';
import { findApprovalOfJob } from '../../../src/store/approvals/approvals.ts';
import type { Db, WorkflowStepRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { getRun, listSteps, type ListedStep, stateOfStep } from '../../../src/store/workflows/runs.ts';
import { insertWorkflow } from '../../../src/store/workflows/workflows.ts';
import { chosenSeed, seeded, type Seeded } from '../../support/seeded.ts';
import { ENGINES, freshStore, makeJob } from '../engine-fixture.ts';

const RUNS = 40;
/** More than any of these runs needs. */
const ACTS_MAX = 100;
const TTL_MS = 60_000;

/** The jobs of all steps so far. */
let queued = 0;

const DEPS: WorkflowDeps = {
  approvalTtlMs: TTL_MS,
  wake: () => undefined,
  queueAction: (queueing) => {
    queued += 1;
    const { owners } = queueing.asker;
    return queueOrAsk(queueing, makeJob({ id: newId('job', queueing.tx.now), trigger: 'workflow', owners }));
  },
};

type Step = WorkflowStep<StepAction>;

const STEP: Step = {
  name: 'a',
  needs: [],
  when: null,
  approval: 'none',
  approvalTtlMs: null,
  action: { kind: 'command', command: ['true'], inventory: 'localhost', limit: null, timeout: null },
};

/** Steps that need some of those before them, on conditions that hold after a failure or a cancel, too. */
function someSteps(random: Seeded): Step[] {
  const steps: Step[] = [];
  for (let at = 0, count = random.whole(1, 7); at < count; at += 1) {
    const needs = steps.filter(() => random.next() < 0.5).map(({ name }) => name);
    const whens = needs.flatMap((name) => [`steps.${name}.state == "cancelled"`, `steps.${name}.state != "skipped"`]);
    steps.push({
      ...STEP,
      name: `s${at}`,
      needs,
      when: random.pick([null, ...whens]),
      approval: random.pick(['none', 'none', 'required']),
    });
  }
  return steps;
}

type Said = 'yes' | 'no' | 'forged' | null;

/** Does one thing that a person, a deadline or a daemon may do to a job; answers what was said of the step. */
async function act(store: Store, random: Seeded, jobId: string, state: string): Promise<Said> {
  if (random.next() < 0.04) {
    await store.write(({ db }) => random.pick(STEP_FORGERIES).write(db, jobId));
    return 'forged';
  }
  const set = (columns: { state: 'running' | 'succeeded' | 'failed'; finished_at?: number }): Promise<unknown> =>
    store.write(({ db }) => db.updateTable('jobs').set(columns).where('id', '=', jobId).execute());
  if (state === 'queued') await set({ state: 'running' });
  if (state === 'running') await set({ state: random.pick(['succeeded', 'failed'] as const), finished_at: Date.now() });
  if (state !== 'awaiting_approval') return null;
  const what = random.pick(['approve', 'approve', 'approve', 'reject', 'expire', 'cancel', 'forge'] as const);
  const approval = (await findApprovalOfJob(store.db, jobId)) ?? assert.fail('it has no approval');
  if (what === 'forge') {
    await (random.next() < 0.5 ? forge(store, jobId, approval.id) : forgeEnd(store, jobId));
    return 'forged';
  }
  if (what === 'cancel') {
    await store.write((tx) =>
      cancelJob(tx, jobId, { by: 'cem', via: 'cli', owner: null, reason: 'cancelled' }, () => undefined),
    );
    return 'no';
  }
  if (what === 'expire') {
    await store.write(({ db }) =>
      db.updateTable('approvals').set({ expires_at: 1 }).where('id', '=', approval.id).execute(),
    );
    await expireOnce({ store, clock: systemClock, announceJob: () => undefined, self: () => 'dmn_a' });
    return 'no';
  }
  const decider = { name: 'ben', owner: 'ben', via: 'api' };
  const home = { store, services: { wake: () => undefined, announceJob: () => undefined } };
  await store.write((tx) =>
    decide(home, tx, { approvalId: approval.id, decision: what, reason: null, decider, files: NOT_LOOKED }),
  );
  return what === 'approve' ? 'yes' : 'no';
}

/** As somebody who can write the database alone: a yes without a tag, and the end of a job that never ran. */
async function forge(store: Store, jobId: string, approvalId: string): Promise<void> {
  await store.write(async ({ db }) => {
    await db.updateTable('approvals').set({ state: 'approved' }).where('id', '=', approvalId).execute();
    await db.updateTable('jobs').set({ state: 'failed', finished_at: 1 }).where('id', '=', jobId).execute();
  });
}

/** The same without the yes. */
async function forgeEnd(store: Store, jobId: string): Promise<void> {
  const ended = { state: 'succeeded', finished_at: 1 } as const;
  await store.write(({ db }) => db.updateTable('jobs').set(ended).where('id', '=', jobId).execute());
}

const setStep = (columns: () => Partial<WorkflowStepRow>) => (db: Db, jobId: string) =>
  db.updateTable('workflow_steps').set(columns()).where('job_id', '=', jobId).execute();

/** What such a person may do to the step of a job. */
const STEP_FORGERIES: readonly { what: string; write: (db: Db, jobId: string) => Promise<unknown> }[] = [
  { what: 'was set to succeeded', write: setStep(() => ({ state: 'succeeded' })) },
  { what: 'lost its tag', write: setStep(() => ({ state: 'failed', order_tag: null, order_key_id: null })) },
  { what: 'was set back', write: setStep(() => ({ state: 'waiting', job_id: null })) },
  { what: 'has another job', write: setStep(() => ({ job_id: newId('job', Date.now()) })) },
  {
    what: 'lost its job',
    async write(db, jobId) {
      await db.deleteFrom('approvals').where('job_id', '=', jobId).execute();
      await db.deleteFrom('jobs').where('id', '=', jobId).execute();
    },
  },
];

const isOpen = (state: string): boolean => ['awaiting_approval', 'queued', 'running'].includes(state);
/** Whether somebody let the job of a step run. */
const mayRun = (step: ListedStep): boolean =>
  !['waiting', 'awaiting_approval', 'cancelled', 'skipped'].includes(stateOfStep(step)) && step.job_id !== null;

function startOne(store: Store, steps: readonly Step[], isGated: boolean): ReturnType<typeof startRun> {
  const workflow = { name: newId('wfr', Date.now()), owners: toJson(['ana']), added_by: 'ana' };
  const asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] } as const;
  const gate = isGated ? ({ origin: 'schedule', schedule: 's', ttlMs: TTL_MS } as const) : null;
  return store.write(async (tx) => {
    const row = await insertWorkflow(tx, { ...workflow, definition: toJson({ steps }) });
    return startRun({ tx, deps: DEPS, asker, gate }, row);
  });
}

/** Starts a random workflow and lets it run to its end. */
async function playOne(store: Store, random: Seeded): Promise<void> {
  const steps = someSteps(random);
  const isGated = random.next() < 0.7;
  const { run } = await startOne(store, steps, isGated);
  const drawn = JSON.stringify({ steps, isGated });
  const said = new Set<Said>();
  const forged = new Set<string>();
  let jobsAtNo: number | null = null;
  for (let acts = 0; (await getRun(store.db, run.id)).state === 'running'; acts += 1) {
    assert.ok(acts < ACTS_MAX, `the run does not end: ${drawn}`);
    const open = (await listSteps(store.db, run.id)).filter((step) => isOpen(stateOfStep(step)));
    if (open.length > 0) {
      const step = random.pick(open);
      const answer = await act(store, random, step.job_id ?? assert.fail('it has no job'), stateOfStep(step));
      said.add(answer);
      if (answer === 'forged') forged.add(step.name);
      if (answer === 'no' || answer === 'forged') jobsAtNo ??= queued;
    }
    // A daemon may come later, and for several ends at once.
    if (open.length > 1 && random.next() < 0.3) continue;
    await store.write((tx) => advanceRun(tx, DEPS, run.id));
    const now = await listSteps(store.db, run.id);
    if (isGated && !said.has('yes'))
      assert.deepEqual(
        now.filter((step) => mayRun(step) && !forged.has(step.name)),
        [],
        `before the first yes: ${drawn}`,
      );
    if (jobsAtNo !== null) assert.equal(queued, jobsAtNo, `after a no: ${drawn}`);
  }
  const { state } = await getRun(store.db, run.id);
  if (jobsAtNo !== null) assert.ok(['cancelled', 'failed'].includes(state), `${state} after a no: ${drawn}`);
}

for (const engine of ENGINES)
  describe(`T85: random workflows on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('T85: no step runs before the first yes of a gated start, and none starts after a no', async (t) => {
      const random = seeded(chosenSeed());
      t.diagnostic(`CHAOS_SEED=${random.seed}`);
      for (let count = 0; count < RUNS; count += 1) await playOne(its.store, random);
    });

    test('T85: a yes without a tag, and the end of a job that never ran, let no step run', async () => {
      const { store } = its;
      const undo = { ...STEP, name: 'undo', needs: ['a'], when: 'steps.a.state == "failed"' };
      const { run, first } = await startOne(store, [{ ...STEP, name: 'a' }, undo], true);
      const approval = (await findApprovalOfJob(store.db, first.jobId)) ?? assert.fail('it has no approval');
      await forge(store, first.jobId, approval.id);
      await store.write((tx) => advanceRun(tx, DEPS, run.id));
      assert.deepEqual((await listSteps(store.db, run.id)).map(stateOfStep), ['failed', 'cancelled']);
    });

    test('T85: the end of a job that waits for a yes is a no without a yes', async () => {
      const { store } = its;
      const gate = { ...STEP, name: 'gate', approval: 'required' } as const;
      for (const when of [null, 'steps.gate.state != "skipped"']) {
        const { run, first } = await startOne(store, [gate, { ...STEP, name: 'danger', needs: ['gate'], when }], false);
        await forgeEnd(store, first.jobId);
        await endsAtFault(store, run.id, /Integrity: job \w+ needs an approval and has none/);
      }
    });

    test('T85: a no that somebody wrote is the end of the step as cancelled, whatever its job says', async () => {
      const { store } = its;
      const gate = { ...STEP, name: 'gate', approval: 'required' } as const;
      const { run, first } = await startOne(store, [gate, { ...STEP, name: 'danger', needs: ['gate'] }], false);
      await forgeEnd(store, first.jobId);
      await store.write(async ({ db }) => {
        await db.updateTable('jobs').set({ state: 'succeeded' }).where('id', '=', first.jobId).execute();
        await db.updateTable('approvals').set({ state: 'rejected' }).where('job_id', '=', first.jobId).execute();
      });
      await endsAtFault(store, run.id, /the approval of the step gate is rejected/);
      assert.deepEqual((await listSteps(store.db, run.id)).map(stateOfStep), ['cancelled', 'cancelled']);
    });

    test('T85: the yes to a job of another run opens no gate', async () => {
      const { store } = its;
      const [own, other] = [await startOne(store, [STEP], true), await startOne(store, [STEP], true)];
      await act(store, { ...seeded(1), pick: () => 'approve' as never }, other.first.jobId, 'awaiting_approval');
      const row = await getRun(store.db, own.run.id);
      const consent = (jobId: string): Promise<unknown> =>
        store.write(async (tx) => {
          const rows = (await listSteps(tx.db, own.run.id)).map((each) => ({ ...each, job_id: jobId }));
          return (await consentOf(tx, row, { gate: { ttlMs: TTL_MS } }, rows)).gate?.ttlMs;
        });
      assert.equal(await consent(other.first.jobId), TTL_MS);
    });

    for (const { what, write } of STEP_FORGERIES)
      test(`T80: a step that ${what} ends its run`, async () => {
        const { store } = its;
        const after = { ...STEP, name: 'b', needs: ['a'], when: 'steps.a.state != "skipped"' };
        for (const isEnded of [false, true]) {
          const { run, first } = await startOne(store, [STEP, after, { ...after, name: 'c', needs: ['b'] }], false);
          if (isEnded) {
            await forgeEnd(store, first.jobId);
            await store.write((tx) => advanceRun(tx, DEPS, run.id));
          }
          const last = (await listSteps(store.db, run.id)).findLast(({ job_id: id }) => id !== null);
          await store.write(({ db }) => write(db, last?.job_id ?? assert.fail('it has no job')));
          await endsAtFault(store, run.id, /Integrity: /);
        }
      });
  });

/** It queues nothing more, says why, and ends as one that did not succeed. */
async function endsAtFault(store: Store, id: string, reason: RegExp): Promise<void> {
  const before = queued;
  await store.write((tx) => advanceRun(tx, DEPS, id));
  assert.equal(queued, before);
  const steps = await listSteps(store.db, id);
  assert.deepEqual(
    steps.filter((step) => isOpen(stateOfStep(step)) || step.state === 'waiting'),
    [],
  );
  assert.match(steps.map((step) => step.reason ?? '').join('\n'), reason);
  const { state } = await getRun(store.db, id);
  assert.ok(['cancelled', 'failed'].includes(state), state);
}
