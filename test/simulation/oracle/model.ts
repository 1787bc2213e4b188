/** What the service has promised so far, in memory: no SQL, no promises, and nothing of the code that keeps them. */
import type { JobState, JobTrigger } from '../../../src/domain/jobs/job.ts';
import type { Exit } from '../../../src/runners/launch/children.ts';
import type { Call, Effect } from './calls.ts';

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired';

export interface ModelJob {
  readonly id: string;
  readonly trigger: JobTrigger;
  readonly initial: 'queued' | 'awaiting_approval';
  /** The asking chain: none of them may decide. */
  readonly owners: readonly string[];
  readonly command: readonly string[];
  readonly inventory: string;
  readonly redriveOf: string | null;
  readonly rerunOf: string | null;
  state: JobState;
  approval: string | null;
  /** The workflow run that it is a step of. */
  run: string | null;
  /** Of the daemon that runs or ran it. */
  daemon: string | null;
  isToBeCancelled: boolean;
  exitCode: number | null;
  /** Its daemon said that it must not run. */
  isRefused: boolean;
  /** How its tools ended, as an outsider saw it. */
  readonly exits: Exit[];
  /** Its states, each with the number of the move that led to it. */
  readonly history: { readonly at: number; readonly state: JobState }[];
}

export interface ModelApproval {
  readonly id: string;
  readonly job: string;
  readonly owners: readonly string[];
  /** By the clock of the store; it comes earlier where that is set back. */
  expiresAt: number;
  /** From when to when it was pending, in milliseconds of the world, whatever the clocks show. */
  readonly askedAt: number;
  endedAt: number | null;
  state: ApprovalState;
}

export interface ModelStep {
  readonly name: string;
  readonly needs: readonly string[];
  readonly hasCondition: boolean;
  readonly isGated: boolean;
  /** Null until it has started, and for one that never does. */
  job: string | null;
}

export interface ModelRun {
  readonly id: string;
  readonly workflow: string;
  readonly owners: readonly string[];
  /** Its start needed an approval: so does each step until one was approved. */
  readonly isGated: boolean;
  /** Some of its steps were taken from an earlier run. */
  readonly resumes: boolean;
  readonly steps: ReadonlyMap<string, ModelStep>;
  state: JobState;
  /** By a person, or after a no. */
  isToBeCancelled: boolean;
  /** What started it is known. */
  isAsked: boolean;
}

export interface ModelToken {
  readonly id: string;
  readonly name: string;
  state: 'active' | 'revoked';
}

/** The answer to an idempotency key; `data` is null where it was never received. */
export interface KeptAnswer {
  readonly operation: string;
  readonly effect: Effect;
  data: unknown;
}

export class Model {
  readonly jobs = new Map<string, ModelJob>();
  readonly approvals = new Map<string, ModelApproval>();
  readonly runs = new Map<string, ModelRun>();
  /** Whether each is enabled. */
  readonly schedules = new Map<string, boolean>();
  readonly workflows = new Set<string>();
  /** Whether each is enabled. */
  readonly rules = new Map<string, boolean>();
  readonly inventories = new Set(['localhost']);
  /** With which move each was last added, replaced or removed. */
  readonly inventoryMoves = new Map<string, number>();
  readonly tokens = new Map<string, ModelToken>();
  /** Others that people have added, each with its kind before its name or id. */
  readonly objects = new Set<string>();
  /** By holder and key. */
  readonly keys = new Map<string, KeptAnswer>();
  /** The daemons of the service, by name. */
  readonly nodes = new Set<string>();
  readonly redriven = new Map<string, string>();
  readonly slots = new Set<string>();
  /** Events, each with its rule, that made a job. */
  readonly fires = new Map<string, string>();
  isCordoned = false;
  /** The number of moves so far. */
  moves = 0;
  /** What the clock that is most ahead shows, and the latest time that one has ever shown. */
  nowMs = 0;
  latestMs = 0;
  /** Milliseconds since the world began. */
  elapsedMs = 0;

  move(job: ModelJob, state: JobState): void {
    job.state = state;
    job.history.push({ at: this.moves, state });
  }

  /** A job that waits has ended; one that runs is to be stopped. */
  cancel(job: ModelJob): void {
    if (job.state === 'running') job.isToBeCancelled = true;
    else this.move(job, 'cancelled');
    const approval = job.approval === null ? undefined : this.approvals.get(job.approval);
    if (approval?.state === 'pending') approval.state = 'rejected';
  }

  hasNode(name: unknown): boolean {
    return [...this.nodes].some((node) => node === name);
  }

  running(): number {
    return [...this.jobs.values()].filter(({ state }) => state === 'running').length;
  }

  /** Of a step: its job's state, or what became of it without one; null where it waits. */
  stateOf(step: ModelStep): JobState | null {
    return step.job === null ? null : (this.jobs.get(step.job)?.state ?? null);
  }

  keptFor(call: Call): KeptAnswer | undefined {
    return call.held === null ? undefined : this.keys.get(call.held);
  }
}

const ENDS: readonly JobState[] = ['succeeded', 'failed', 'degraded', 'cancelled', 'interrupted'];

export function isEnd(state: JobState): boolean {
  return ENDS.includes(state);
}

export function isGood(state: JobState | null): boolean {
  return state === 'succeeded' || state === 'degraded';
}
