import { subjectOf } from '../../domain/events/causes.ts';
import { leaveCause } from '../../store/events/causes.ts';
import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { resumeFrom } from '../../domain/workflows/resume.ts';
import { isEnd, type StepState } from '../../domain/workflows/workflow.ts';
import { fromJson } from '../../lib/json.ts';
import { workflowLeavesSandbox } from '../../domain/jobs/order.ts';
import { queueAction } from '../../jobs/actions.ts';
import { refuseFromAfar } from '../../jobs/from-afar.ts';
import type { Asker, Queueing } from '../../jobs/queue.ts';
import { advanceRun, type WorkflowDeps } from '../../jobs/workflows/advance.ts';
import { conditionsOf } from '../../jobs/workflows/conditions.ts';
import { type Resume, startRun } from '../../jobs/workflows/start.ts';
import { factsOf, findEvent } from '../../store/events/events.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { WorkflowRow, WorkflowRunRow } from '../../store/schema/schema.ts';
import { getRun, listRuns, listSteps, lockRun, requestRunCancel, stateOfStep } from '../../store/workflows/runs.ts';
import { getWorkflow } from '../../store/workflows/workflows.ts';
import * as field from '../core/fields.ts';
import { type Operation, readOperation, type WriteContext, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import { queueingOf } from '../jobs/queued.ts';
import { runView } from './run-view.ts';

const NO_AGENT = { none: 'A workflow is started by a person, a rule or a schedule.' };

function depsOf({ services }: Pick<WriteContext, 'services'>): WorkflowDeps {
  const { approvalTtlMs, claimNow } = services;
  return {
    approvalTtlMs,
    ...(claimNow === undefined ? {} : { claimNow }),
    wake: () => services.wake(),
    announceJob: (id) => services.announceJob(id),
    queueAction,
  };
}

const run = writeOperation({
  id: 'workflow.run',
  summary: 'Start a run of a workflow, or the failed rest of its last one',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workflows/{name}/run' },
  mcp: NO_AGENT,
  cli: {
    verb: 'workflow run',
    positionals: ['name'],
    wait: 'steps',
    examples: ['svc workflow run patch-and-check --wait', 'svc workflow run patch-and-check --from look'],
  },
  input: z.strictObject({
    name: field.name,
    from: field.as(
      'STEP',
      z
        .array(field.name)
        .max(200, { error: 'expected at most 200 steps' })
        .default([])
        .describe('Run only this step and those after it; take the others from the last run; repeatable'),
    ),
  }),
  answers: ['workflow.status'],
  failures: ['not_found', 'conflict', 'forbidden', 'concurrency_held', 'stale_plan'],
  async prepare({ store }, { name }) {
    await conditionsOf(fromJson((await getWorkflow(store.db, name)).definition).steps);
  },
  async run(context, { name, from }) {
    const { tx, caller } = context;
    const workflow = await getWorkflow(tx.db, name);
    if (workflowLeavesSandbox(workflow.definition))
      refuseFromAfar(caller, `Workflow ${name}`, `svc workflow run ${name}`);
    // Two resumes at a time would both take the results of the same run.
    await tx.dialect.lockKey(tx.db, `workflow:${name}`);
    const [last] = from.length === 0 ? [] : await listRuns(tx.db, name, 1);
    if (from.length > 0 && last === undefined)
      throw new Failure('conflict', `from: the workflow ${name} has no run whose results could be taken.`);
    const resume = last === undefined ? null : await resumeOf(tx, workflow, last, [...new Set(from)]);
    const queueing = { ...queueingOf(context), deps: depsOf(context) };
    const asker = last === undefined ? queueing.asker : await askerAgain(queueing, last);
    const started = await startRun({ ...queueing, asker }, workflow, resume);
    const detail = { run_id: started.run.id, ...(last === undefined ? {} : { from, resumes: last.id }) };
    return written(reply('workflow.status', await runView(tx.db, await getRun(tx.db, started.run.id))), name, detail);
  },
});

/** The results that a run which starts at `from` takes from the last one. Throws conflict and invalid_argument. */
async function resumeOf(tx: Tx, workflow: WorkflowRow, last: WorkflowRunRow, from: readonly string[]): Promise<Resume> {
  if (last.state === 'running')
    throw new Failure('conflict', `The last run ${last.id} has not ended; cancel it or wait for it.`);
  // Its results and its requesters become those of the new run, which gets a tag (T80).
  await checkTag(tx, 'workflow_runs', last);
  const rows = await listSteps(tx.db, last.id);
  // Where its row says that it has ended, and a step has not, somebody else wrote that.
  const open = rows.find(({ state }) => state === 'started' || state === 'waiting');
  if (open !== undefined)
    throw new Failure('conflict', `The step ${open.name} of the last run ${last.id} has not ended.`);
  // A daemon of an earlier build moves a step without its tag.
  if (await tx.adoption.isOver()) for (const row of rows) await checkTag(tx, 'workflow_steps', row);
  const states = new Map(rows.map((row): [string, StepState] => [row.name, stateOfStep(row)]));
  const { steps } = fromJson(workflow.definition);
  const resumed = resumeFrom(steps, states, from, await conditionsOf(steps));
  if ('refusal' in resumed) throw new Failure('invalid_argument', `from: ${resumed.refusal}.`);
  const taken: Resume['steps'] = new Map(
    rows.flatMap((row) => {
      const state = resumed.taken.get(row.name);
      return state === undefined || !isEnd(state) ? [] : [[row.name, { state, jobId: row.job_id }] as const];
    }),
  );
  return { run: last.id, steps: taken };
}

/** The requesters stay with the run, and so does the event whose values its steps have. */
async function askerAgain({ tx, asker }: Queueing, last: WorkflowRunRow): Promise<Asker> {
  const owners = [...new Set([...fromJson(last.owners), ...asker.owners])];
  const event = last.event_id === null ? undefined : await findEvent(tx.db, last.event_id);
  if (event === undefined) return { ...asker, owners };
  const provenance = { origin: 'manual', alert: event.id } as const;
  return { ...asker, owners, provenance, event: factsOf(event, event.received_at) };
}

const status = readOperation({
  id: 'workflow.status',
  summary: 'Show a run of a workflow and its steps',
  scopes: READERS,
  http: { method: 'GET', path: '/workflow-runs/{run}', omit: ['workflow'] },
  mcp: NO_AGENT,
  cli: {
    verb: 'workflow status',
    positionals: ['run'],
    wait: 'steps',
    examples: ['svc workflow status', 'svc workflow status wfr_01m7yd4zyke00anp2z332d2j5p --wait'],
  },
  input: z.strictObject({
    run: field.id('wfr').optional().describe('The run; without it the newest one'),
    workflow: field.name.optional().describe('The newest run of this workflow'),
  }),
  answers: ['workflow.status'],
  failures: ['not_found'],
  async run({ store: { db } }, { run: id, workflow }) {
    if (id !== undefined && workflow !== undefined)
      throw new Failure('invalid_argument', 'workflow: expected only without a run.');
    const [found] = id === undefined ? await listRuns(db, workflow ?? null, 1) : [await getRun(db, id)];
    if (found === undefined)
      throw new Failure('not_found', `No workflow${workflow === undefined ? '' : ` ${workflow}`} has run yet.`);
    return reply('workflow.status', await runView(db, found));
  },
});

const cancel = writeOperation({
  id: 'workflow.cancel',
  causes: { of: 'run', by: 'the write itself, before it cancels the jobs of the run' },
  summary: 'Cancel a run of a workflow and its jobs',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/workflow-runs/{run}/cancel' },
  mcp: NO_AGENT,
  cli: {
    verb: 'workflow cancel',
    positionals: ['run'],
    examples: ['svc workflow cancel wfr_01m7yd4zyke00anp2z332d2j5p'],
  },
  input: z.strictObject({ run: field.id('wfr') }),
  answers: ['workflow.status'],
  failures: ['not_found', 'conflict'],
  async run(context, { run: id }) {
    const { tx, services, caller } = context;
    // The jobs that have ended may have ended the run, or started its next steps.
    await lockRun(tx, id);
    const found = await getRun(tx.db, id);
    if (found.state !== 'running') throw new Failure('conflict', `Workflow run ${id} is ${found.state} already.`);
    await requestRunCancel(tx, id);
    await leaveCause(tx, subjectOf('run', id), caller.owner);
    await advanceRun(tx, depsOf(context), id, caller);
    tx.afterCommit(() => services.wake());
    return written(reply('workflow.status', await runView(tx.db, await getRun(tx.db, id))), id, {
      workflow: found.workflow,
    });
  },
});

export const WORKFLOW_RUN_OPERATIONS: readonly Operation[] = [run, status, cancel];
