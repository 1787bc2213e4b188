import type { Kysely } from 'kysely';
import type * as access from './access.ts';
import type * as audit from './audit.ts';
import type { BackupRow } from './backups.ts';
import type { ConfigObjectRow } from './configuration.ts';
import type * as maintenance from './maintenance.ts';
import type * as checks from './checks.ts';
import type * as infrastructure from './infrastructure.ts';
import type * as sweep from './check-sweep.ts';
import type * as commands from './commands.ts';
import type * as jobs from './jobs.ts';
import type * as inventories from './inventories.ts';
import type * as playbooks from './playbooks.ts';
import type * as notify from './notify.ts';
import type * as reaction from './reaction.ts';
import type * as workflows from './workflows.ts';

/**
 * The tables, one type each. Ids are text made by us, times are integers in milliseconds, JSON is text (`Json`)
 * and a boolean is 0 or 1: nothing then differs in type between SQLite and PostgreSQL.
 */
export interface Schema {
  jobs: jobs.JobRow;
  job_chunks: jobs.ChunkRow;
  job_partials: jobs.PartialRow;
  tokens: access.TokenRow;
  sessions: access.SessionRow;
  idempotency: access.IdempotencyRow;
  chains: audit.ChainRow;
  ledger: audit.LedgerRow;
  ledger_keying: audit.LedgerKeyingRow;
  daemons: maintenance.DaemonRow;
  cordon: maintenance.CordonRow;
  node_cordons: maintenance.NodeCordonRow;
  restarts: maintenance.RestartRow;
  retention: maintenance.RetentionRow;
  redriven_jobs: jobs.RedrivenJobRow;
  unread_files: jobs.UnreadFilesRow;
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
  causes: reaction.CauseRow;
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

export type * from './access.ts';
export type * from './audit.ts';
export type * from './backups.ts';
export type * from './check-sweep.ts';
export type * from './checks.ts';
export type * from './configuration.ts';
export type * from './infrastructure.ts';
export type * from './inventories.ts';
export type * from './jobs.ts';
export type * from './maintenance.ts';
export type * from './playbooks.ts';
export type * from './notify.ts';
export type * from './reaction.ts';
export type * from './workflows.ts';

export type Db = Kysely<Schema>;

/** The name of a table. */
export type Table = keyof Schema;

interface MigrationRow {
  number: number;
  name: string;
  sha256: string;
  applied_at: number;
}
