import { ACCESS } from './access/area.ts';
import { APPROVALS } from './approvals/area.ts';
import type { StoreArea } from './area.ts';
import { BACKUPS } from './backups/area.ts';
import { CHECKS } from './checks/area.ts';
import { COMMANDS } from './commands/area.ts';
import { CONFIGURATION } from './configuration/area.ts';
import { DEADMAN } from './deadman/area.ts';
import type { Tx } from './engine/tx.ts';
import { EVENTS } from './events/area.ts';
import { JOBS } from './jobs/area.ts';
import { MAINTENANCE } from './maintenance/area.ts';
import { NOTIFY } from './notify/area.ts';
import { PLAYBOOKS } from './playbooks/area.ts';
import { RULES } from './rules/area.ts';
import type { Table } from './schema/schema.ts';
import { SCHEDULES } from './schedules/area.ts';
import { WORKFLOWS } from './workflows/area.ts';
import { WORKSPACES } from './workspaces/area.ts';

/** The areas of the store, in the order in which a restored one comes to rest: jobs before what their ends change. */
export const STORE_AREAS: readonly StoreArea[] = [
  MAINTENANCE,
  ACCESS,
  APPROVALS,
  JOBS,
  WORKFLOWS,
  NOTIFY,
  WORKSPACES,
  SCHEDULES,
  CHECKS,
  BACKUPS,
  COMMANDS,
  PLAYBOOKS,
  CONFIGURATION,
  EVENTS,
  DEADMAN,
  RULES,
];

/** Why the row of an area must not be removed: the first that another one says; null where it may. */
export async function neededBy(tx: Tx, table: Table, name: string): Promise<string | null> {
  for (const { needs } of STORE_AREAS) {
    const why = (await needs?.(tx, table, name)) ?? null;
    if (why !== null) return why;
  }
  return null;
}
