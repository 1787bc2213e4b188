import { subjectOf } from '../../domain/events/causes.ts';
import { handCauses } from '../../store/events/causes.ts';
import { Failure } from '../../domain/failure.ts';
import type { StepAction } from '../../domain/rules/step-actions.ts';
import { isEnd, type Step, type StepEnd, type StepState } from '../../domain/workflows/workflow.ts';
import { nextMoves, verdictOf } from '../../domain/workflows/progress.ts';
import { fromJson } from '../../lib/json.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { WorkflowRunRow } from '../../store/schema/schema.ts';
import {
  endRun,
  endStep,
  failStep,
  type ListedStep,
  listSteps,
  lockRun,
  findRun,
  noteUnfinished,
  requestRunCancel,
  startStep,
  stateOfStep,
} from '../../store/workflows/runs.ts';
import { cancelJob } from '../cancel.ts';
import { type Asker, type Gate, type QueueDeps, type Queued, queuedDetail, type Queueing } from '../queue.ts';
import { conditionsOf } from './conditions.ts';
import { consentOf, provenanceOf } from './consent.ts';
import { runDependencies } from './run-dependencies.ts';
import { checkStep } from './step-fault.ts';

/** Queues the job of an action, see `jobs/actions.ts`. */
export type QueueAction = (queueing: Queueing, action: StepAction) => Promise<Queued>;

export interface WorkflowDeps extends QueueDeps {
  readonly queueAction: QueueAction;
  /** Tells the followers of a job, or of a run, in this process that it has changed. */
  readonly announceJob?: (id: string) => void;
}

/** A run that has not ended, in the write that moves it on. */
interface OpenRun {
  readonly tx: Tx;
  readonly deps: WorkflowDeps;
  readonly run: WorkflowRunRow;
  /** Changed with each step. */
  readonly states: Map<string, StepState>;
}

/** Jobs that one write queues or cancels at most, so that it stays short; the next pass continues. */
const JOBS_MAX = 50;

/**
 * Brings an open run up to date: records the ends of its jobs, queues the steps that are next, or cancels what is left
 * after a cancel or a no, and ends the run with its last step. It may be called at any time and by several daemons:
 * each step is queued once.
 */
export async function advanceRun(
  tx: Tx,
  deps: WorkflowDeps,
  id: string,
  canceller: Canceller = { name: 'gatehouse', via: 'daemon' },
): Promise<void> {
  await lockRun(tx, id);
  const run = await findRun(tx.db, id);
  if (run?.state !== 'running') return;
  const rows = await listSteps(tx.db, id);
  const states = new Map<string, StepState>();
  let fault: string | null = null;
  for (const row of rows) {
    const ended = await recordEnd(tx, row);
    fault ??= ended.fault;
    states.set(row.name, ended.state);
  }
  const open = { tx, deps, run, states };
  await settleRun(open, await moveOn(open, { rows, fault }, canceller));
}

/**
 * Records the end of a step whose job has ended. One that does not count, or whose row does not, has failed; `fault`
 * says why, and also that its job got a no.
 */
async function recordEnd(
  tx: Tx,
  row: ListedStep,
): Promise<{ readonly state: StepState; readonly fault: string | null }> {
  const { fault, no } = await checkStep(tx, row);
  const state = no === null ? stateOfStep(row) : 'cancelled';
  // What still waits or runs is cancelled as after a no.
  if (fault !== null && (row.state === 'waiting' || !isEnd(state))) return { state, fault };
  if (fault !== null) {
    if (row.reason !== fault) await failStep(tx, row, fault);
    return { state: 'failed', fault };
  }
  if (row.state === 'started' && isEnd(state)) await endStep(tx, row, 'started', { state, reason: null });
  return { state, fault: no };
}

/** Queues what is next, or cancels what is left after a cancel or a no. True where more is left to do. */
async function moveOn(open: OpenRun, { rows, fault }: Checked, canceller: Canceller): Promise<boolean> {
  const { tx, run } = open;
  if (run.cancel_requested_at !== null) return cancelRest(open, rows, canceller, 'the run was cancelled');
  const definition = fromJson(run.definition);
  const { refusal: no, gate } = await consentOf(tx, run, definition, rows);
  const refusal = no ?? fault;
  if (refusal === null) return (await startNext(open, definition.steps, gate, JOBS_MAX)).left;
  await requestRunCancel(tx, run.id);
  tx.record({
    principal: canceller.name,
    owner: canceller.name,
    via: canceller.via,
    operation: 'workflow.refuse',
    target: run.id,
    detail: { workflow: run.workflow, reason: refusal },
  });
  return cancelRest(open, rows, canceller, refusal);
}

/** Who cancels a run. */
interface Canceller {
  readonly name: string;
  readonly via: string;
}

interface Checked {
  readonly rows: readonly ListedStep[];
  /** Why the first step that does not count does not; null where all do. */
  readonly fault: string | null;
}

interface Started {
  /** The jobs that were queued, in the order of the steps. */
  readonly queued: readonly Queued[];
  /** Why steps have no job. */
  readonly refusals: readonly Failure[];
  /** Whether more steps are next than `limit`. */
  readonly left: boolean;
}

/**
 * Queues at most `limit` of the steps that are next, and ends those that do not run. Each job waits for an approval if
 * there is a gate: that of a start without a yes so far.
 */
export async function startNext(
  open: OpenRun,
  steps: readonly Step<StepAction>[],
  gate: Gate | null,
  limit: number,
): Promise<Started> {
  const { run, states } = open;
  const evaluate = await conditionsOf(steps);
  const byName = new Map(steps.map((step) => [step.name, step]));
  const [queued, refusals]: [Queued[], Failure[]] = [[], []];
  for (;;) {
    const moves = nextMoves(steps, states, evaluate);
    if (moves.length === 0) return { queued, refusals, left: false };
    for (const move of moves) {
      const step = byName.get(move.step);
      if (step === undefined) throw new Error(`the step ${move.step} is not in the run ${run.id}`);
      if (move.to !== 'start') {
        await endWithout(open, step.name, move.to, move.reason);
        continue;
      }
      if (queued.length + refusals.length === limit) return { queued, refusals, left: true };
      const made = await queueStep(open, step, gate);
      if (made instanceof Failure) refusals.push(made);
      else queued.push(made);
    }
  }
}

/** Queues the job of a step, or ends the step as failed with the reason of the refusal. */
async function queueStep(open: OpenRun, step: Step<StepAction>, gate: Gate | null): Promise<Queued | Failure> {
  const { tx, deps, run } = open;
  const owners = fromJson(run.owners);
  const provenance = provenanceOf(run);
  const own = step.approval === 'required' ? { ...provenance, ttlMs: step.approvalTtlMs ?? deps.approvalTtlMs } : null;
  const asker: Asker = { trigger: 'workflow', requestedBy: run.requested_by, owners, provenance, because: run.because };
  let queued: Queued;
  try {
    await checkTag(tx, 'workflow_runs', run);
    queued = await deps.queueAction({ tx, deps, asker, gate: own ?? gate }, step.action);
  } catch (error) {
    // A refusal comes before anything is written. Any other error rolls the write back.
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
    await endWithout(open, step.name, 'failed', error.message);
    return error;
  }
  if (!(await startStep(tx, { run_id: run.id, name: step.name }, queued.jobId)))
    throw new Error(`the step ${step.name} of ${run.id} has a job already`);
  open.states.set(step.name, queued.state);
  tx.record({
    principal: run.requested_by,
    owner: owners[0] ?? run.requested_by,
    via: 'workflow',
    operation: 'workflow.step',
    target: queued.jobId,
    detail: { run_id: run.id, workflow: run.workflow, step: step.name, ...queuedDetail(queued) },
  });
  return queued;
}

/** Ends a step that has no job. */
async function endWithout({ tx, run, states }: OpenRun, name: string, state: StepEnd, reason: string): Promise<void> {
  await endStep(tx, { run_id: run.id, name }, 'waiting', { state, reason });
  states.set(name, state);
}

/** After a cancel: no further step starts, and what waits or runs is cancelled. True where more jobs are left. */
async function cancelRest(
  open: OpenRun,
  rows: readonly ListedStep[],
  { name: by, via }: Canceller,
  reason: string,
): Promise<boolean> {
  const { tx, deps, run, states } = open;
  let count = 0;
  for (const row of rows) {
    const { name, job_id: jobId } = row;
    if (row.state === 'waiting') await endWithout(open, name, 'cancelled', reason);
    if (row.state !== 'started' || jobId === null || isEnd(states.get(name) ?? 'waiting')) continue;
    // It runs, and ends in its own time: to ask again would leave no room for the others.
    if (row.job_cancel_requested_at !== null) continue;
    if (count === JOBS_MAX) return true;
    count += 1;
    await handCauses(tx, runDependencies(run, rows), subjectOf('job', jobId));
    const canceller = { by, via, owner: null, reason: 'the workflow was cancelled' };
    await cancelJob(tx, jobId, canceller, (each) => deps.announceJob?.(each));
    const { state } = await getJob(tx.db, jobId);
    states.set(name, state);
    if (isEnd(state)) await endStep(tx, row, 'started', { state, reason: null });
  }
  return false;
}

/** Ends the run with its last step; else notes whether something is left to do. */
export async function settleRun({ tx, deps, run, states }: OpenRun, left: boolean): Promise<void> {
  const ends = [...states.values()].filter(isEnd);
  if (ends.length === states.size) {
    const state = verdictOf(ends);
    if (!(await endRun(tx, run.id, state))) return;
    tx.record({
      principal: 'gatehouse',
      owner: 'gatehouse',
      via: 'daemon',
      operation: 'workflow.end',
      target: run.id,
      detail: { workflow: run.workflow, state },
    });
  } else if (left !== (run.unfinished === 1)) await noteUnfinished(tx, run.id, left);
  tx.afterCommit(() => {
    deps.announceJob?.(run.id);
    if (left) deps.wake();
  });
}
