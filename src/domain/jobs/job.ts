import type { ChunkEvent } from '../../lib/chunks/chunk-event.ts';

/** The kinds of jobs. What is known of each is a row of KINDS. */
export const JOB_KINDS = [
  'plan',
  'apply',
  'destroy',
  'drift',
  'playbook',
  'command',
  'backup',
  'vendor',
  'config',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Carries the job's id into every process of its tree, so that each can be found again. */
export const JOB_ID_VARIABLE = 'SVC_JOB_ID';

export const JOB_TRIGGERS = ['api', 'cli', 'mcp', 'web', 'rule', 'schedule', 'workflow', 'host', 'redrive'] as const;
export type JobTrigger = (typeof JOB_TRIGGERS)[number];
/** How jobs come whose words an author wrote on the machine; with every other one, a caller gave them. */
export const AUTHORED_TRIGGERS: readonly JobTrigger[] = ['rule', 'schedule', 'workflow', 'host'];

/**
 * The state machine of a job. A transition is one conditional update (`where state = <from>`), so a transition that
 * lost its race changes nothing. Terminal states, the CHECK constraint, the filter's values and the diagram in
 * docs/reference derive from this table. A restore from a backup is no move: it ends open jobs as a whole.
 */
export const JOB_MOVES = {
  awaiting_approval: ['queued', 'cancelled'],
  queued: ['running', 'cancelled'],
  running: ['succeeded', 'failed', 'degraded', 'cancelled', 'interrupted'],
  succeeded: [],
  failed: [],
  degraded: [],
  cancelled: [],
  interrupted: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof JOB_MOVES;
export const JOB_STATES = Object.keys(JOB_MOVES) as JobState[];

/** The states in which a job is born. */
export const INITIAL_STATES = ['queued', 'awaiting_approval'] as const satisfies readonly JobState[];
export type InitialState = (typeof INITIAL_STATES)[number];

/** The states that the end of a run can lead to. */
export type FinalState = (typeof JOB_MOVES)['running'][number];

export function isTerminal(state: JobState): boolean {
  return JOB_MOVES[state].length === 0;
}

/** The states of a job that has not ended. */
export const OPEN_STATES: readonly JobState[] = JOB_STATES.filter((state) => !isTerminal(state));

export function canMove(from: JobState, to: JobState): boolean {
  return (JOB_MOVES[from] as readonly JobState[]).includes(to);
}
export const STOP_GRACE_MS = 10_000;
export interface JobProgress {
  readonly play: string;
  readonly task: string;
}

/** What a run has printed on a stream without a line end: redacted, and the last state of what it rewrites. */
export interface PartialLine {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
}

/** The same for readers. It replaces the one before it, and every event of the job ends it; `text` may be empty. */
export interface PartialEvent {
  readonly type: 'partial';
  readonly stream: PartialLine['stream'];
  readonly text: string;
}

/** One event of a job, as `job.events` and the stream show it. */
export type JobEvent = ChunkEvent<JobState>;

/** How a run ended; the daemon decides the state from it. */
export interface RunEnd {
  readonly state: Exclude<FinalState, 'interrupted'>;
  readonly exitCode: number | null;
  /** Why it failed, where there is more to say than the exit code. */
  readonly reason?: string | null;
}

/** Characters of why a job is asked for. */
export const BECAUSE_MAX = 500;
