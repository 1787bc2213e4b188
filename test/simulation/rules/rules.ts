/**
 * What must hold, seen from outside: by the rows that are committed, the tools that run and the messages that arrive. A
 * rule has a letter and a number, by which a failure is known when it is cut down.
 */
import { canMove, isTerminal, JOB_STATES, type JobState } from '../../../src/domain/jobs/job.ts';
import type { Process, Processes } from '../programs/processes.ts';

/** The rows of a query, in the state of the last commit. */
export type Rows = (sql: string, ...parameters: readonly (string | number)[]) => readonly Row[];

type Row = Readonly<Record<string, unknown>>;

type Moved = Readonly<Record<'id' | 'state', string>>;
type JobRow = Readonly<{ id: string; state: JobState; redrive_of: string | null; cancel_requested_at: number | null }>;

/** A daemon that was stopped for a while, and then ends a tool that does not listen, needs less. */
const CANCEL_MS = 60_000;

export interface Violation {
  readonly rule: string;
  readonly what: string;
}

/** One commit may hold several moves: a decision and a claim share a transaction. */
function canReach(from: JobState, to: JobState): boolean {
  return canMove(from, to) || JOB_STATES.some((via) => canMove(from, via) && canReach(via, to));
}

/** The rules that are looked at after each commit and each start of a tool. */
export class Watch {
  readonly broken: Violation[] = [];
  readonly states = new Map<string, JobState>();
  readonly approvals = new Map<string, string>();
  readonly #rows: Rows;
  readonly #processes: () => Processes;
  /** Acknowledged jobs, by the request that asked for each. */
  readonly #acknowledged = new Map<string, string>();
  readonly #started = new Set<string>();
  /** Since when the service is cordoned, as of the last commit; null where it is not. */
  #cordonedAt: unknown = null;
  readonly #now: () => number;
  /** When it was seen that a job is to be stopped. */
  readonly #cancelledAt = new Map<string, number>();

  /** `now`: milliseconds of the world. */
  constructor(rows: Rows, processes: () => Processes, now: () => number) {
    this.#rows = rows;
    this.#processes = processes;
    this.#now = now;
  }

  violated(rule: string, what: string): void {
    if (!this.broken.some((each) => each.rule === rule && each.what === what)) this.broken.push({ rule, what });
  }

  /** A client was answered that its request has this job. */
  acknowledge(jobId: string, request: string): void {
    const before = this.#acknowledged.get(jobId);
    if (before !== undefined && before !== request)
      this.violated('J1', `${jobId} was given to the requests ${before} and ${request}`);
    for (const [id, other] of this.#acknowledged)
      if (other === request && id !== jobId) this.violated('J1', `request ${request} has the jobs ${id} and ${jobId}`);
    this.#acknowledged.set(jobId, request);
  }

  started(process: Process): void {
    const { jobId, step } = process;
    const tool = `the tool ${step === '' ? '' : `${step} `}of ${jobId}`;
    if (this.#started.has(tool)) this.violated('J2', `${tool} was started twice`);
    this.#started.add(tool);
    const [row] = this.#rows('select state, concurrency_key from jobs where id = ?', jobId) as readonly {
      state: JobState;
      concurrency_key: string | null;
    }[];
    if (row?.state !== 'running')
      this.violated('J3', `the tool of ${jobId} starts, which is ${row?.state ?? 'not there'}`);
    const key = row?.concurrency_key ?? null;
    if (key === null) return;
    const rivals = this.#rows('select id from jobs where concurrency_key = ? and id <> ?', key, jobId);
    for (const { id: other } of rivals as readonly { id: string }[])
      if (this.#processes().living(other).length > 0)
        this.violated('J4', `the tool of ${jobId} starts while that of ${other} runs, with the key ${key}`);
  }

  committed(): void {
    const [cordon] = this.#rows('select cordoned_at from cordon where id = 1');
    const cordonedAt = cordon?.['cordoned_at'] ?? null;
    this.#lookAtJobs(cordonedAt !== null && cordonedAt === this.#cordonedAt);
    this.#cordonedAt = cordonedAt;
    for (const { id, state } of this.#rows('select id, state from approvals') as readonly Moved[]) {
      const before = this.approvals.get(id);
      if (before !== undefined && before !== 'pending' && before !== state)
        this.violated('A1', `approval ${id} was ${before} and is ${state}`);
      this.approvals.set(id, state);
    }
  }

  /** Of a job that has ended. */
  #lookAtCancel(id: string, state: JobState): void {
    const afterMs = this.#now() - (this.#cancelledAt.get(id) ?? this.#now());
    if (afterMs > CANCEL_MS && (state === 'succeeded' || state === 'failed'))
      this.violated('J12', `${id} ${state} by itself ${afterMs} ms after it was to be stopped`);
  }

  /** `isCordoned`: the service was cordoned before this commit, and still is. */
  #lookAtJobs(isCordoned: boolean): void {
    const redriven = new Map<string, string>();
    const rows = this.#rows('select id, state, redrive_of, cancel_requested_at from jobs') as readonly JobRow[];
    const there = new Set<string>();
    for (const { id, state, redrive_of: of, cancel_requested_at: cancelAt } of rows) {
      there.add(id);
      const before = this.states.get(id);
      if (before !== undefined && before !== state && !canReach(before, state))
        this.violated('J5', `${id} moved from ${before} to ${state}`);
      if (isCordoned && state === 'running' && before !== state)
        this.violated('M1', `${id} was claimed while the service is cordoned`);
      if (before !== undefined && before !== state) this.#lookAtCancel(id, state);
      if (cancelAt !== null && state === 'running' && !this.#cancelledAt.has(id))
        this.#cancelledAt.set(id, this.#now());
      this.states.set(id, state);
      if (of === null) continue;
      if (redriven.has(of)) this.violated('J6', `${of} was redriven as ${redriven.get(of)} and ${id}`);
      redriven.set(of, id);
    }
    for (const id of this.#acknowledged.keys())
      if (!there.has(id)) this.violated('J7', `${id} was acknowledged and is not there`);
    for (const each of this.#processes().all)
      if (each.isAlive && isTerminal(this.states.get(each.jobId) ?? 'running'))
        this.violated('J8', `${each.jobId} is ${this.states.get(each.jobId)} and its tool runs`);
  }
}
