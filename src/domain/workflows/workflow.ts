import type { ApprovalChoice } from '../approvals/approval.ts';
import type { JobState } from '../jobs/job.ts';

/** Words of workflows. */

/** How a step may end: as its job, or without one. */
export const STEP_ENDS = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted', 'skipped'] as const;
export type StepEnd = (typeof STEP_ENDS)[number];

/** The states of a step: those of its job, `waiting` before it has one, and `skipped`. */
export type StepState = JobState | 'waiting' | 'skipped';

export const STEP_STATES = ['waiting', 'awaiting_approval', 'queued', 'running', ...STEP_ENDS] as const;

/** The ends of a run, the worst first: a run ends as the worst of its steps, and one without a fault as `succeeded`. */
export const RUN_ENDS = ['interrupted', 'failed', 'cancelled', 'degraded', 'succeeded'] as const;
export type RunEnd = (typeof RUN_ENDS)[number];

export const RUN_STATES = ['running', 'awaiting_approval', ...RUN_ENDS] as const;
export type RunState = RunEnd | 'running' | 'awaiting_approval';

/** What the file of a workflow describes. `A` is the action of a step. */
export interface Workflow<A = unknown> {
  readonly steps: readonly Step<A>[];
}

/** What a run keeps: the workflow with the values of its event. */
export interface RunDefinition<A = unknown> extends Workflow<A> {
  /** Of a start that needs an approval: until the first yes, each step waits for one. `ttlMs` as in an approval. */
  readonly gate?: { readonly ttlMs: number; readonly oneTap?: boolean };
}

export interface Step<A = unknown> {
  readonly name: string;
  /** The steps that end before this one starts. */
  readonly needs: readonly string[];
  /** A condition over the ends of the steps before it; null: every needed step succeeded or is degraded. */
  readonly when: string | null;
  readonly approval: ApprovalChoice;
  /** Null: as long as other approvals. */
  readonly approvalTtlMs: number | null;
  readonly action: A;
}

/** More steps than a page shows; each end of a step reads all of its run. */
export const STEPS_MAX = 200;

/** Most `${…}` in a workflow: each takes 1 ms to compile, and the write that starts a run waits for it. */
export const EXPRESSIONS_MAX = 50;

/** How many `${…}` the actions of the steps have. */
export function expressionsIn(steps: readonly Step[]): number {
  return JSON.stringify(steps.map(({ action }) => action)).split('${').length - 1;
}

export function isEnd(state: StepState): state is StepEnd {
  return (STEP_ENDS as readonly StepState[]).includes(state);
}

/** Whether the steps after it run by default. A degraded job succeeded with warnings. */
export function isSuccess(state: StepState): boolean {
  return state === 'succeeded' || state === 'degraded';
}
