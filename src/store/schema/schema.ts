import type { Kysely } from 'kysely';
import type { EventStatus } from '../../domain/events/event.ts';
import type { InitialState, JobKind, JobState, JobTrigger } from '../../domain/jobs/job.ts';
import type { Scope } from '../../domain/access/scope.ts';
import type { BackupRow } from './backups.ts';
import type { ConfigObjectRow } from './configuration.ts';
import type { RestartRow } from './maintenance.ts';
import type * as checks from './checks.ts';
import type * as infrastructure from './infrastructure.ts';
import type * as sweep from './check-sweep.ts';
import type * as commands from './commands.ts';
import type * as inventories from './inventories.ts';
import type * as playbooks from './playbooks.ts';
import type * as notify from './notify.ts';
import type * as reaction from './reaction.ts';
import type * as workflows from './workflows.ts';

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
  ledger_keying: LedgerKeyingRow;
  daemons: DaemonRow;
  cordon: CordonRow;
  node_cordons: NodeCordonRow;
  restarts: RestartRow;
  retention: RetentionRow;
  redriven_jobs: RedrivenJobRow;
  sources: infrastructure.SourceRow;
  workspaces: infrastructure.WorkspaceRow;
  states: infrastructure.StateRow;
  artifacts: infrastructure.ArtifactRow;
  approvals: infrastructure.ApprovalRow;
  decision_links: infrastructure.DecisionLinkRow;
  secrets: infrastructure.SecretRow;
  inventories: inventories.InventoryRow;
  host_keys: inventories.HostKeyRow;
  playbook_runs: playbooks.PlaybookRunRow;
  playbook_hosts: playbooks.PlaybookHostsRow;
  host_results: commands.HostResultRow;
  seal: infrastructure.SealRow;
  events: reaction.EventRow;
  event_counts: reaction.EventCountRow;
  webhooks: reaction.WebhookRow;
  webhook_refusals: reaction.WebhookRefusalRow;
  webhook_keys: reaction.WebhookKeyRow;
  webhook_signatures: reaction.WebhookSignatureRow;
  rules: reaction.RuleRow;
  rule_fires: reaction.RuleFireRow;
  silences: reaction.SilenceRow;
  mutes: reaction.MuteRow;
  schedules: reaction.ScheduleRow;
  endpoints: notify.EndpointRow;
  armed_jobs: notify.ArmedJobRow;
  pages: notify.NotificationRow;
  deliveries: notify.DeliveryRow;
  deadmen: notify.DeadmanRow;
  workflows: workflows.WorkflowRow;
  workflow_runs: workflows.WorkflowRunRow;
  workflow_steps: workflows.WorkflowStepRow;
  check_days: sweep.CheckDayRow;
  check_sweepers: sweep.CheckSweeperRow;
  check_shards: sweep.CheckShardRow;
  backups: BackupRow;
  checks: checks.CheckRow;
  check_targets: checks.CheckTargetRow;
  netgroups: checks.NetgroupRow;
  config_objects: ConfigObjectRow;
  schema_migrations: MigrationRow;
}

export type * from './backups.ts';
export type * from './check-sweep.ts';
export type * from './checks.ts';
export type * from './configuration.ts';
export type * from './infrastructure.ts';
export type * from './inventories.ts';
export type * from './maintenance.ts';
export type * from './playbooks.ts';
export type * from './notify.ts';
export type * from './reaction.ts';
export type * from './workflows.ts';

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
  /** The event of its end; null until it is made, and empty for jobs that ended before there were such events. */
  outcome_event_id: string | null;
  /** Of a drift run with a change to report: the status of its event. */
  drift_status: EventStatus | null;
  /** Of a privileged order: its tag (`order-tags.ts`) and the id of the tag's key. */
  order_tag: string | null;
  order_key_id: string | null;
  /** The author's description; null without one. */
  summary: string | null;
  /**
   * Why it failed or was interrupted, or who asked for its cancellation; null until then, and for jobs of earlier
   * builds.
   */
  reason: string | null;
  /** The ended job whose order this one repeats, at the request of a person. */
  rerun_of: string | null;
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
  /** Increases with every change of the row: a cached verification of an older version is void. */
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
  /** The key of the last row; null while the chain has no keyed row. */
  key_id: string | null;
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
  /** The key of the hash; null for rows of earlier builds, whose hash has no key. */
  key_id: string | null;
}

/** When the ledger got its key. There is at most one row. */
export interface LedgerKeyingRow {
  id: 1;
  keyed_at: number;
  /** When every chain of earlier builds had its seam; null before. */
  closed_at: number | null;
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
  /** Of its ingress listener, on the loopback address of its host; null for one that has none. */
  ingress_url: string | null;
  /** JSON: name and key of each target of `--notify`; null for a build that did not record them. */
  notify_targets: string | null;
  /** The key that it writes the ledger with; null for daemons of earlier builds, which write it without one. */
  ledger_key_id: string | null;
  /** The name by which people know it; null for daemons of earlier builds. */
  node: string | null;
}

/** A daemon that was cordoned alone; the others go on. */
interface NodeCordonRow {
  node: string;
  cordoned_at: number;
  cordoned_by: string;
}

/** What was deleted of a table by its age, and whose turn it is. */
interface RetentionRow {
  name: 'jobs' | 'events' | 'notifications';
  /** The daemon that deletes, until this time of the store's clock. */
  daemon_id: string;
  turn_until: number;
  shortened_at: number | null;
  /** Rows, in total. */
  deleted: number;
}

/** A job whose redrive was deleted. */
interface RedrivenJobRow {
  job_id: string;
}

/** Of the whole service. */
interface CordonRow {
  id: 1;
  cordoned_at: number | null;
  cordoned_by: string | null;
}

interface MigrationRow {
  number: number;
  name: string;
  sha256: string;
  applied_at: number;
}
