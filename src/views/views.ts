import type * as z from 'zod';
import { TOKEN_VIEWS } from './access/views.ts';
import { APPROVAL_VIEWS } from './approvals/views.ts';
import { AUDIT_VIEWS } from './audit/views.ts';
import { BACKUP_VIEWS } from './backups/views.ts';
import { CHECK_VIEWS } from './checks/views.ts';
import { COMMAND_VIEWS } from './commands/views.ts';
import { CONFIG_VIEWS } from './configuration/views.ts';
import { DEADMAN_VIEWS } from './deadman/views.ts';
import { EVENT_VIEWS, WEBHOOK_VIEWS } from './events/views.ts';
import { HOST_VIEWS } from './events/host-views.ts';
import { GATE_VIEWS } from './gate/views.ts';
import { INVENTORY_VIEWS } from './inventories/views.ts';
import { JOB_VIEWS } from './jobs/views.ts';
import { MAINTENANCE_VIEWS } from './maintenance/views.ts';
import { NETGROUP_VIEWS } from './netgroups/views.ts';
import { NOTIFY_VIEWS } from './notify/views.ts';
import { RULE_VIEWS } from './rules/views.ts';
import { SCHEDULE_VIEWS } from './schedules/views.ts';
import { SECRET_VIEWS } from './secrets/views.ts';
import { DOCTOR_VIEWS, WHOAMI_VIEWS } from './service/views.ts';
import { SOURCE_VIEWS } from './sources/views.ts';
import { WORKFLOW_VIEWS } from './workflows/views.ts';
import { WORKSPACE_VIEWS } from './workspaces/views.ts';

/**
 * What each kind of answer may hold: an allow-list that also fixes the order of the keys, and so the bytes. To
 * project is to parse: a key that is not named here is dropped.
 */
export const VIEWS = {
  ...WHOAMI_VIEWS,
  ...JOB_VIEWS,
  ...COMMAND_VIEWS,
  ...BACKUP_VIEWS,
  ...SOURCE_VIEWS,
  ...GATE_VIEWS,
  ...INVENTORY_VIEWS,
  ...WORKSPACE_VIEWS,
  ...WORKFLOW_VIEWS,
  ...APPROVAL_VIEWS,
  ...SECRET_VIEWS,
  ...DOCTOR_VIEWS,
  ...MAINTENANCE_VIEWS,
  ...TOKEN_VIEWS,
  ...AUDIT_VIEWS,
  ...EVENT_VIEWS,
  ...CHECK_VIEWS,
  ...RULE_VIEWS,
  ...HOST_VIEWS,
  ...SCHEDULE_VIEWS,
  ...NOTIFY_VIEWS,
  ...DEADMAN_VIEWS,
  ...WEBHOOK_VIEWS,
  ...NETGROUP_VIEWS,
  ...CONFIG_VIEWS,
} as const satisfies Record<string, z.ZodType>;

export type ViewName = keyof typeof VIEWS;
/** What an operation passes to a view; further keys of it are dropped. */
export type ViewData<V extends ViewName> = z.input<(typeof VIEWS)[V]>;
/** What a face may show. */
export type Projected<V extends ViewName> = z.output<(typeof VIEWS)[V]>;
export type ViewItem<V extends ViewName> = ViewData<V> extends readonly (infer I)[] ? I : never;
