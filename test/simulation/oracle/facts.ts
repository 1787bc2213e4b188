/** What the store says, given to the oracle as facts: the moves in the order of the ledger, and rows with their ids. */
import type { JobState, JobTrigger } from '../../../src/domain/jobs/job.ts';
import type { Rows } from '../rules/rules.ts';
import type { ApprovalState } from './model.ts';

/** A row of the ledger: somebody or the service did something. */
export interface Fact {
  readonly operation: string;
  readonly principal: string;
  readonly owner: string;
  readonly via: string;
  readonly target: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface JobFact {
  readonly id: string;
  readonly state: JobState;
  readonly initial: 'queued' | 'awaiting_approval';
  readonly trigger: JobTrigger;
  readonly owners: readonly string[];
  readonly command: readonly string[];
  readonly inventory: string;
  readonly redriveOf: string | null;
  readonly rerunOf: string | null;
  readonly exitCode: number | null;
  readonly isToBeCancelled: boolean;
}

interface ApprovalFact {
  readonly id: string;
  readonly job: string;
  readonly state: ApprovalState;
  readonly owners: readonly string[];
  readonly expiresAt: number;
}

interface StepFact {
  readonly name: string;
  readonly state: JobState | 'waiting' | 'started' | 'skipped';
  readonly job: string | null;
  readonly isTaken: boolean;
}

interface RunFact {
  readonly id: string;
  readonly workflow: string;
  readonly state: JobState;
  readonly owners: readonly string[];
  readonly resumes: string | null;
  readonly definition: {
    readonly gate?: unknown;
    readonly steps: readonly {
      readonly name: string;
      readonly needs: readonly string[];
      readonly when: string | null;
      readonly approval: string;
    }[];
  };
  readonly steps: readonly StepFact[];
}

interface TokenFact {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scope: string;
  readonly state: 'active' | 'revoked';
  /** How long it is valid, in milliseconds; null for one that does not expire. */
  readonly lifeMs: number | null;
}

/** The rows of a moment. */
export interface Snapshot {
  readonly jobs: ReadonlyMap<string, JobFact>;
  readonly approvals: ReadonlyMap<string, ApprovalFact>;
  readonly runs: ReadonlyMap<string, RunFact>;
  readonly tokens: ReadonlyMap<string, TokenFact>;
  readonly schedules: ReadonlyMap<string, boolean>;
  readonly isCordoned: boolean;
}

const JOBS = `select id, state, initial_state, "trigger", owners, spec, redrive_of, rerun_of, exit_code,
  cancel_requested_at from jobs`;
const APPROVALS = 'select id, job_id, state, owners, expires_at from approvals';
const RUNS = 'select id, workflow, state, owners, resumes, definition from workflow_runs';
const STEPS = 'select run_id, name, state, job_id, taken_from from workflow_steps order by run_id, position';
const TOKENS = 'select id, name, owner, scope, created_at, expires_at, revoked_at from tokens';
const LEDGER = `select operation, principal, owner, via, target, detail, seq from ledger
  where chain = ? and seq > ? order by seq`;

export class Facts {
  readonly #rows: Rows;
  /** How many rows of each chain are known. */
  readonly #read = new Map<string, number>();

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** The moves since the last call, each once. */
  news(): Fact[] {
    const news: Fact[] = [];
    for (const { id, length } of this.#rows('select id, length from chains order by id')) {
      const [chain, known] = [String(id), this.#read.get(String(id)) ?? 0];
      if (Number(length) === known) continue;
      const found = this.#rows(LEDGER, chain, known) as unknown as (Omit<Fact, 'detail'> & { detail: string })[];
      this.#read.set(chain, known + found.length);
      for (const row of found) news.push({ ...row, detail: parsed(row.detail) as Fact['detail'] });
    }
    return news;
  }

  snapshot(): Snapshot {
    const steps = Map.groupBy(this.#rows(STEPS), ({ run_id: run }) => String(run));
    const all = <T extends { readonly id: string }>(sql: string, read: (row: Row) => T): ReadonlyMap<string, T> =>
      new Map(this.#rows(sql).map((row) => [String(row['id']), read(row)]));
    const [cordon] = this.#rows('select cordoned_at from cordon where id = 1');
    return {
      jobs: all(JOBS, jobOf),
      approvals: all(APPROVALS, approvalOf),
      runs: all(RUNS, (row) => runOf(row, steps.get(String(row['id'])) ?? [])),
      tokens: all(TOKENS, tokenOf),
      schedules: new Map(
        this.#rows('select name, enabled from schedules').map(({ name, enabled }) => [String(name), enabled === 1]),
      ),
      isCordoned: (cordon?.['cordoned_at'] ?? null) !== null,
    };
  }
}

type Row = Readonly<Record<string, unknown>>;

function parsed(text: unknown): unknown {
  return JSON.parse(String(text)) as unknown;
}

function jobOf(row: Row): JobFact {
  const { command = [], inventory = '' } = parsed(row['spec']) as { command?: string[]; inventory?: string };
  return {
    id: row['id'] as string,
    state: row['state'] as JobState,
    initial: row['initial_state'] as JobFact['initial'],
    trigger: row['trigger'] as JobTrigger,
    owners: parsed(row['owners']) as string[],
    command,
    inventory,
    redriveOf: row['redrive_of'] as string | null,
    rerunOf: row['rerun_of'] as string | null,
    exitCode: row['exit_code'] as number | null,
    isToBeCancelled: row['cancel_requested_at'] !== null,
  };
}

function approvalOf(row: Row): ApprovalFact {
  return {
    id: row['id'] as string,
    job: row['job_id'] as string,
    state: row['state'] as ApprovalState,
    owners: parsed(row['owners']) as string[],
    expiresAt: Number(row['expires_at']),
  };
}

function tokenOf(row: Row): TokenFact {
  const { created_at: from, expires_at: until } = row;
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    owner: row['owner'] as string,
    scope: row['scope'] as string,
    state: row['revoked_at'] === null ? 'active' : 'revoked',
    lifeMs: until === null ? null : Number(until) - Number(from),
  };
}

function runOf(row: Row, steps: readonly Row[]): RunFact {
  return {
    id: row['id'] as string,
    workflow: row['workflow'] as string,
    state: row['state'] as JobState,
    owners: parsed(row['owners']) as string[],
    resumes: row['resumes'] as string | null,
    definition: parsed(row['definition']) as RunFact['definition'],
    steps: steps.map((each) => ({
      name: each['name'] as string,
      state: each['state'] as StepFact['state'],
      job: each['job_id'] as string | null,
      isTaken: each['taken_from'] !== null,
    })),
  };
}
