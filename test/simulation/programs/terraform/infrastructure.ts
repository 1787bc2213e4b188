/** What the simulated terraform has planned, changed and left: what the rules on workspaces compare the store with. */
import type { Process } from '../processes.ts';
import { type Content, digestOf, type Planned, readContent } from './plans.ts';

/** The state that an apply left, where nothing but the end of its process could be lost of it. */
export interface Left {
  readonly workspace: string;
  readonly process: Process;
  readonly digest: string;
  readonly content: Content;
}

/** The rows of a query. */
type Rows = (sql: string, ...parameters: readonly string[]) => readonly Readonly<Record<string, unknown>>[];
type Violated = (rule: string, what: string) => void;

let current: Infrastructure | null = null;

export function theInfrastructure(): Infrastructure {
  if (current === null) throw new Error('there is no infrastructure outside of a world');
  return current;
}

export class Infrastructure {
  /** By the digest of the file. */
  readonly #plans = new Map<string, Planned>();
  /** Digests of plan files, by the job that carried each out. */
  readonly #applied = new Map<string, string>();
  /** What each apply wrote last, by its job; null where that cannot be known from what is left. */
  readonly #left = new Map<string, Left | null>();
  /** The job that wrote last, by workspace. */
  readonly #last = new Map<string, string>();
  readonly #violated: Violated;
  readonly #rows: Rows;

  private constructor(rows: Rows, violated: Violated) {
    this.#rows = rows;
    this.#violated = violated;
  }

  /** That of the world that is open. */
  static open(rows: Rows, violated: Violated): Infrastructure {
    current = new Infrastructure(rows, violated);
    return current;
  }

  keepPlan(bytes: Buffer, planned: Planned): void {
    this.#plans.set(digestOf(bytes), planned);
  }

  planIn(bytes: Buffer): Planned | undefined {
    return this.#plans.get(digestOf(bytes));
  }

  /** An apply begins, in a directory with this state. */
  begins(process: Process, plan: Buffer, state: Buffer | null): void {
    const { jobId } = process;
    const planned = this.planIn(plan);
    if (planned === undefined) return this.#violated('T1', `${jobId} applies a plan that no terraform has made`);
    const before = this.#applied.get(digestOf(plan));
    if (before !== undefined) this.#violated('T2', `${jobId} applies the plan that ${before} has applied`);
    this.#applied.set(digestOf(plan), jobId);
    const { serial = 0, lineage = '' } = (state === null ? null : readContent(state)) ?? {};
    if (planned.serial !== serial || planned.lineage !== lineage)
      this.#violated('T9', `${jobId} applies a plan of serial ${planned.serial} to a state of serial ${serial}`);
    this.#lookAtYes(jobId, planned);
    this.#lookAtState(process, state);
  }

  /** An apply has written this whole state; null where it cannot be known what it has made. */
  leaves(process: Process, written: { readonly bytes: Buffer; readonly content: Content } | null): void {
    const workspace = this.#workspaceOf(process.jobId);
    const left = written === null ? null : { content: written.content, digest: digestOf(written.bytes) };
    this.#left.set(process.jobId, left === null ? null : { workspace, process, ...left });
    this.#last.set(workspace, process.jobId);
  }

  /** What has to be kept of each apply. */
  left(): readonly Left[] {
    return [...this.#left.values()].filter((each) => each !== null);
  }

  /** A plan that destroys needs a yes, unless it is made by the very run that applies it. */
  #lookAtYes(jobId: string, { changes }: Planned): void {
    const [job] = this.#rows('select plan_artifact_id, initial_state from jobs where id = ?', jobId);
    if (typeof job?.['plan_artifact_id'] !== 'string' || !Object.values(changes).includes('delete')) return;
    const yes = this.#rows("select id from approvals where job_id = ? and state = 'approved'", jobId);
    if (yes.length === 0) this.#violated('T3', `${jobId} applies a plan that destroys, without an approval`);
  }

  /** What an earlier apply has made is known to this one. */
  #lookAtState({ jobId, host }: Process, state: Buffer | null): void {
    const lastId = this.#last.get(this.#workspaceOf(jobId));
    const left = lastId === undefined || lastId === jobId ? null : this.#left.get(lastId);
    if (left === null || left === undefined) return;
    // A machine that is gone takes with it what was not stored yet.
    if (left.process.host.machine !== host.machine && this.#stateOf(left.process.jobId) === 'interrupted') return;
    if (state === null || digestOf(state) !== left.digest)
      this.#violated('T4', `${jobId} begins without the state that ${left.process.jobId} left`);
  }

  #stateOf(jobId: string): unknown {
    return this.#rows('select state from jobs where id = ?', jobId)[0]?.['state'];
  }

  #workspaceOf(jobId: string): string {
    return String(this.#rows('select workspace from jobs where id = ?', jobId)[0]?.['workspace']);
  }
}
