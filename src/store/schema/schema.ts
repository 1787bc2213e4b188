import type { Kysely } from 'kysely';

/**
 * The tables, one type each: each area declares its own in it. Ids are text made by us, times are integers in
 * milliseconds, JSON is text (`Json`) and a boolean is 0 or 1: nothing then differs in type between SQLite and
 * PostgreSQL.
 */
export interface Schema {
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
export type * from './gate/tables.ts';
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
