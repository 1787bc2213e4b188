/**
 * Judges the runs of workflows that daemons were killed under:
 *
 * W1 a run that was acknowledged is in the store, and comes to its end;
 * W2 a step has one job at most, and every job of a workflow is of one step;
 * W3 a job starts its tool at most once;
 * W4 a step ended as its job, no step is left that could run, and one that ran had reason to;
 * W5 a run ended as the worst of its steps.
 */
import { nextMoves, verdictOf } from '../../../src/domain/workflows/progress.ts';
import { isEnd, isSuccess, type Step, type StepState } from '../../../src/domain/workflows/workflow.ts';

export interface WorkflowRunHistory {
  readonly id: string;
  readonly state: string;
  readonly definition: readonly Step[];
  readonly steps: readonly { readonly name: string; readonly state: StepState; readonly jobId: string | null }[];
}

export interface WorkflowHistory {
  /** Ids of runs whose start was acknowledged. */
  readonly started: readonly string[];
  readonly runs: readonly WorkflowRunHistory[];
  readonly jobs: readonly {
    readonly id: string;
    readonly state: string;
    /** How often its tool printed that it started, and how often it was claimed. */
    readonly starts: number;
    readonly claims: number;
  }[];
}

export interface WorkflowViolation {
  readonly rule: 'W1' | 'W2' | 'W3' | 'W4' | 'W5';
  readonly what: string;
}

export function checkWorkflows(history: WorkflowHistory): WorkflowViolation[] {
  const { started, runs, jobs } = history;
  const known = new Set(runs.map(({ id }) => id));
  const lost = started.filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is not there`);
  const open = runs.filter(({ state }) => state === 'running').map(({ id }) => `${id} has not ended`);
  const repeated = jobs
    .filter(({ starts, claims }) => starts > 1 || claims > 1)
    .map(({ id, starts, claims }) => `${id} started ${starts} times after ${claims} claims`);
  return [
    ...[...lost, ...open].map((what) => ({ rule: 'W1' as const, what })),
    ...oneJobEach(history),
    ...repeated.map((what) => ({ rule: 'W3' as const, what })),
    ...runs.flatMap((run) => wrongSteps(run, new Map(jobs.map(({ id, state }) => [id, state])))),
  ];
}

function oneJobEach({ runs, jobs }: WorkflowHistory): WorkflowViolation[] {
  const counts = new Map<string, number>(jobs.map(({ id }) => [id, 0]));
  for (const { steps } of runs)
    for (const { jobId } of steps) if (jobId !== null) counts.set(jobId, (counts.get(jobId) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count !== 1)
    .map(([id, count]) => ({ rule: 'W2', what: `the job ${id} is of ${count} steps` }));
}

function wrongSteps(run: WorkflowRunHistory, jobs: ReadonlyMap<string, string>): WorkflowViolation[] {
  const { id, definition, steps } = run;
  const found: WorkflowViolation[] = [];
  const states = new Map(steps.map(({ name, state }) => [name, state]));
  for (const { name, state, jobId } of steps) {
    if (jobId !== null && jobs.get(jobId) !== state)
      found.push({ rule: 'W4', what: `${id}: ${name} is ${state}, its job ${jobs.get(jobId) ?? 'is gone'}` });
    const needs = definition.find((step) => step.name === name)?.needs ?? [];
    const unmet = needs.filter((need) => !isSuccess(states.get(need) ?? 'waiting'));
    if ((jobId === null) !== unmet.length > 0)
      found.push({ rule: 'W4', what: `${id}: ${name} is ${state}, and of what it needs failed: ${unmet.join(', ')}` });
  }
  const left = nextMoves(definition, states, () => ({ value: true }));
  for (const { step } of left) found.push({ rule: 'W4', what: `${id}: ${step} could go on` });
  const ends = [...states.values()].filter(isEnd);
  if (run.state !== verdictOf(ends)) found.push({ rule: 'W5', what: `${id} is ${run.state}` });
  return found;
}
