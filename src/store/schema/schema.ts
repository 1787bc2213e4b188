import type { Kysely } from 'kysely';
import type { AccessTables } from './access/tables.ts';
import type { ApprovalsTables } from './approvals/tables.ts';
import type { AuditTables } from './audit/tables.ts';
import type { BackupsTables } from './backups/tables.ts';
import type { ChecksTables } from './checks/tables.ts';
import type { CommandsTables } from './commands/tables.ts';
import type { ConfigurationTables } from './configuration/tables.ts';
import type { DeadmanTables } from './deadman/tables.ts';
import type { EventsTables } from './events/tables.ts';
import type { InventoriesTables } from './inventories/tables.ts';
import type { JobsTables } from './jobs/tables.ts';
import type { MaintenanceTables } from './maintenance/tables.ts';
import type { NetgroupsTables } from './netgroups/tables.ts';
import type { NotifyTables } from './notify/tables.ts';
import type { PlaybooksTables } from './playbooks/tables.ts';
import type { RulesTables } from './rules/tables.ts';
import type { SchedulesTables } from './schedules/tables.ts';
import type { SecretsTables } from './secrets/tables.ts';
import type { SourcesTables } from './sources/tables.ts';
import type { WorkflowsTables } from './workflows/tables.ts';
import type { WorkspacesTables } from './workspaces/tables.ts';

/**
 * The tables, one type each, by areas. Ids are text made by us, times are integers in milliseconds, JSON is text
 * (`Json`) and a boolean is 0 or 1: nothing then differs in type between SQLite and PostgreSQL.
 */
export interface Schema
  extends
    AccessTables,
    ApprovalsTables,
    AuditTables,
    BackupsTables,
    ChecksTables,
    CommandsTables,
    ConfigurationTables,
    DeadmanTables,
    EventsTables,
    InventoriesTables,
    JobsTables,
    MaintenanceTables,
    NetgroupsTables,
    NotifyTables,
    PlaybooksTables,
    RulesTables,
    SchedulesTables,
    SecretsTables,
    SourcesTables,
    WorkflowsTables,
    WorkspacesTables {
  schema_migrations: MigrationRow;
}

export type * from './access/tables.ts';
export type * from './approvals/tables.ts';
export type * from './audit/tables.ts';
export type * from './backups/tables.ts';
export type * from './checks/tables.ts';
export type * from './commands/tables.ts';
export type * from './configuration/tables.ts';
export type * from './deadman/tables.ts';
export type * from './events/tables.ts';
export type * from './inventories/tables.ts';
export type * from './jobs/tables.ts';
export type * from './maintenance/tables.ts';
export type * from './netgroups/tables.ts';
export type * from './notify/tables.ts';
export type * from './playbooks/tables.ts';
export type * from './rules/tables.ts';
export type * from './schedules/tables.ts';
export type * from './secrets/tables.ts';
export type * from './sources/tables.ts';
export type * from './workflows/tables.ts';
export type * from './workspaces/tables.ts';

export type Db = Kysely<Schema>;

/** The name of a table. */
export type Table = keyof Schema;

interface MigrationRow {
  number: number;
  name: string;
  sha256: string;
  applied_at: number;
}
