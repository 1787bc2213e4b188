import type { Kysely } from 'kysely';
import type { ApprovalState, Decision, Origin } from '../domain/approval.ts';
import type { InitialState, JobKind, JobState, JobTrigger } from '../domain/job.ts';
import type { Verdict } from '../domain/plan.ts';
import type { Scope } from '../domain/scope.ts';
import type { Drift, SourceKind } from '../domain/workspace.ts';

/**
 * The tables, one type each. Ids are text made by us, times are integers in milliseconds, JSON is text and a
 * boolean is 0 or 1: nothing then differs in type between SQLite and PostgreSQL.
 */
export interface Schema {
  jobs: JobRow;
  job_chunks: ChunkRow;
  tokens: TokenRow;
  sessions: SessionRow;
  idempotency: IdempotencyRow;
  chains: ChainRow;
  ledger: LedgerRow;
  daemons: DaemonRow;
  cordon: CordonRow;
  sources: SourceRow;
  workspaces: WorkspaceRow;
  states: StateRow;
  artifacts: ArtifactRow;
  approvals: ApprovalRow;
  decision_links: DecisionLinkRow;
  secrets: SecretRow;
  seal: SealRow;
  events: EventRow;
  schema_migrations: MigrationRow;
}

export type Db = Kysely<Schema>;

export interface JobRow {
  id: string;
  kind: JobKind;
  state: JobState;
  /** The state that the job was born in: its first event is not stored, it is read off this and `created_at`. */
  initial_state: InitialState;
  runbook: string;
  source: string | null;
  trigger: JobTrigger;
  workspace: string | null;
  concurrency_key: string | null;
  /** 1 while an older job of the same key is queued or running: such a job is not claimable. */
  blocked: 0 | 1;
  privileged: 0 | 1;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  expires_at: number | null;
  exit_code: number | null;
  /** The name of the principal that asked. */
  requested_by: string;
  /** JSON: the owners in the asking chain, the root first. */
  owners: string;
  redrive_of: string | null;
  plan_artifact_id: string | null;
  /** JSON: what the runner needs. Never shown. */
  spec: string;
  timeout_ms: number;
  progress: string | null;
  daemon_id: string | null;
  /** Counts the claims of this row: a late write of a daemon that lost its lease names an old one. */
  lease_generation: number;
  /** The first process of the run and its start time in clock ticks, against reused process ids. */
  leader_pid: number | null;
  leader_start: number | null;
  cancel_requested_at: number | null;
}

export interface ChunkRow {
  job_id: string;
  first_seq: number;
  last_seq: number;
  at: number;
  raw_bytes: number;
  data: Uint8Array;
}

export interface TokenRow {
  id: string;
  name: string;
  owner: string;
  scope: Scope;
  salt: Uint8Array;
  hash: Uint8Array;
  /** Goes up with every change of the row: a cached verification of an older version is void. */
  version: number;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface SessionRow {
  /** SHA-256 of the cookie's value, hex. */
  id: string;
  token_id: string;
  csrf: string;
  created_at: number;
  expires_at: number;
}

export interface IdempotencyRow {
  /** `job:<owner>` for job-creating requests, `write:<token id>:<operation>` for the others. */
  holder: string;
  key: string;
  status: number;
  kind: string;
  /** JSON: the data that was first answered. */
  data: string;
  created_at: number;
}

export interface ChainRow {
  id: string;
  length: number;
  head: string;
}

export interface LedgerRow {
  chain: string;
  seq: number;
  at: number;
  principal: string;
  owner: string;
  via: string;
  operation: string;
  target: string | null;
  /** JSON: identifiers, states and counts; never a value that an operator supplied. */
  detail: string;
  prev: string;
  hash: string;
}

export interface DaemonRow {
  id: string;
  host: string;
  boot_id: string;
  pid: number;
  version: string;
  started_at: number;
  /** Database time; null where an operating-system lock tells whether the daemon lives. */
  lease_until: number | null;
  stopped_at: number | null;
}

export interface CordonRow {
  id: 1;
  cordoned_at: number | null;
  cordoned_by: string | null;
}

export interface SourceRow {
  name: string;
  kind: SourceKind;
  /** The URL or the directory. Never shown: a URL may be refused for its credentials, but not every form of them is known. */
  location: string;
  ref: string | null;
  commit_id: string | null;
  synced_at: number | null;
  created_at: number;
}

export interface WorkspaceRow {
  name: string;
  source: string | null;
  /** Absolute where there is no source, else below its root; empty is the root itself. */
  path: string;
  approve_when: string | null;
  deny_when: string | null;
  require_saved_plan: 0 | 1;
  protect_destroy: 0 | 1;
  /** Of the newest state that is known; null before the first. */
  serial: number | null;
  lineage: string | null;
  /** The job that made `serial`; null when the mover is outside of the service. */
  moved_by_job: string | null;
  moved_via: string | null;
  moved_at: number | null;
  drift: Drift;
  drift_checked_at: number | null;
  last_plan_job_id: string | null;
  last_apply_job_id: string | null;
  created_at: number;
}

/** One version of the state of a root that has no backend of its own. */
export interface StateRow {
  workspace: string;
  version: number;
  serial: number;
  lineage: string;
  /** How many resources it holds. */
  resources: number;
  job_id: string | null;
  sealed: Uint8Array;
  key_id: string;
  created_at: number;
}

/** A saved plan. */
export interface ArtifactRow {
  id: string;
  workspace: string;
  job_id: string;
  /** Of the state that it was made from; 0 where there was none. */
  serial: number;
  lineage: string;
  /** SHA-256 over the files of the root: an apply of other files is not what was planned. */
  tree_digest: string;
  needs_init: 0 | 1;
  own_backend: 0 | 1;
  verdict: Verdict | null;
  verdict_reason: string | null;
  destroys: number;
  changes: number;
  creates: number;
  summary: string;
  /** The plan file, sealed. */
  sealed: Uint8Array;
  /** SHA-256 of `sealed`, hex; the audit ledger has it too. */
  digest: string;
  /** The JSON of `approval.plan`, redacted, compressed and sealed. */
  sealed_view: Uint8Array;
  key_id: string;
  created_at: number;
  /** The job that applied it, or tried: a plan runs once. */
  consumed_by: string | null;
}

export interface ApprovalRow {
  id: string;
  job_id: string;
  kind: JobKind;
  state: ApprovalState;
  policy: string;
  workspace: string | null;
  runbook: string;
  plan_artifact_id: string | null;
  /** What was asked about: the digest and the serial of the plan at that time. */
  plan_digest: string | null;
  plan_serial: number | null;
  requested_by: string;
  /** JSON: the owners in the asking chain; none of them may decide. */
  owners: string;
  origin: Origin;
  alert: string | null;
  rule: string | null;
  matched_at: number | null;
  created_at: number;
  /** By the clock of the database, where daemons share one. */
  expires_at: number;
  decided_at: number | null;
  decided_by: string | null;
  decided_via: string | null;
  reason: string | null;
}

/** One capability to decide one approval one way. */
export interface DecisionLinkRow {
  /** SHA-256 of the token, hex. */
  hash: string;
  approval_id: string;
  decision: Decision;
  /** As whom the link acts. */
  recipient: string;
  /** The owner of the credential that made it. */
  made_by: string;
  created_at: number;
}

export interface SecretRow {
  project: string;
  name: string;
  version: number;
  sealed: Uint8Array;
  key_id: string;
  created_at: number;
  updated_at: number;
}

/** The key that the daemons of this store seal with. */
export interface SealRow {
  id: 1;
  key_id: string;
  created_at: number;
}

export interface EventRow {
  id: string;
  source: string;
  name: string | null;
  status: string | null;
  netgroup: string | null;
  severity: string | null;
  fingerprint: string | null;
  /** JSON. */
  labels: string;
  outcome: string;
  reason: string;
  rule: string | null;
  job_id: string | null;
  approval_id: string | null;
  received_at: number;
}

export interface MigrationRow {
  number: number;
  name: string;
  sha256: string;
  applied_at: number;
}
