import { APPROVAL_LINK_OPERATIONS } from './approvals/approval-links.ts';
import { APPROVAL_OPERATIONS } from './approvals/approvals.ts';
import { AUDIT_OPERATIONS } from './audit/audit.ts';
import { BACKUP_OPERATIONS } from './backups/backups.ts';
import { CHECK_OPERATIONS } from './checks/checks.ts';
import { COMMAND_OPERATIONS } from './commands/commands.ts';
import { configOperations } from './configuration/configuration.ts';
import { DEADMAN_OPERATIONS } from './events/deadman.ts';
import { EVENT_OPERATIONS } from './events/events.ts';
import { HOST_REQUEST_OPERATIONS } from './events/host-requests.ts';
import { INVENTORY_OPERATIONS } from './inventories/inventories.ts';
import { JOB_OPERATIONS } from './jobs/jobs.ts';
import { REDRIVE_OPERATIONS } from './jobs/redrive.ts';
import { RERUN_OPERATIONS } from './jobs/rerun.ts';
import { MAINTENANCE_OPERATIONS } from './maintenance/maintenance.ts';
import { RESTART_OPERATIONS } from './maintenance/restart.ts';
import { NODE_OPERATIONS } from './maintenance/nodes.ts';
import { MUTE_OPERATIONS } from './rules/mutes.ts';
import { NETGROUP_OPERATIONS } from './netgroups/netgroups.ts';
import { NOTIFY_OPERATIONS } from './notify/notify.ts';
import { openapiOperation } from './openapi.ts';
import type { Operation } from './core/operation.ts';
import { PLAYBOOK_HOST_OPERATIONS } from './playbooks/playbook-hosts.ts';
import { PLAYBOOK_OPERATIONS } from './playbooks/playbooks.ts';
import { RULE_OPERATIONS } from './rules/rules.ts';
import { AGENDA_OPERATIONS } from './schedules/agenda.ts';
import { SCHEDULE_OPERATIONS } from './schedules/schedules.ts';
import { SEAL_OPERATIONS } from './secrets/seal.ts';
import { SECRET_OPERATIONS } from './secrets/secrets.ts';
import { SERVICE_OPERATIONS } from './service/service.ts';
import { SILENCE_OPERATIONS } from './rules/silences.ts';
import { SOURCE_OPERATIONS } from './sources/sources.ts';
import { VENDOR_OPERATIONS } from './vendor/vendor.ts';
import { TOKEN_OPERATIONS } from './access/tokens.ts';
import { WEBHOOK_OPERATIONS } from './events/webhooks.ts';
import { WORKFLOW_OPERATIONS } from './workflows/workflows.ts';
import { WORKSPACE_EXPORT_OPERATIONS } from './workspaces/workspace-export.ts';
import { WORKSPACE_RESTORE_OPERATIONS } from './workspaces/workspace-restore.ts';
import { WORKSPACE_PLAN_OPERATIONS } from './workspaces/workspace-plans.ts';
import { WORKSPACE_RUN_OPERATIONS } from './workspaces/workspace-runs.ts';
import { WORKSPACE_OPERATIONS } from './workspaces/workspaces.ts';

/**
 * The operations of the service, one row each. Routes, command-line verbs, the OpenAPI document, help and the
 * authorisation matrix are derived from it; none of them is written by hand.
 */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  openapiOperation(() => OPERATIONS),
  ...JOB_OPERATIONS,
  ...REDRIVE_OPERATIONS,
  ...RERUN_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...APPROVAL_LINK_OPERATIONS,
  ...WORKSPACE_OPERATIONS,
  ...WORKSPACE_EXPORT_OPERATIONS,
  ...WORKSPACE_RESTORE_OPERATIONS,
  ...WORKSPACE_PLAN_OPERATIONS,
  ...WORKSPACE_RUN_OPERATIONS,
  ...SOURCE_OPERATIONS,
  ...VENDOR_OPERATIONS,
  ...INVENTORY_OPERATIONS,
  ...COMMAND_OPERATIONS,
  ...PLAYBOOK_OPERATIONS,
  ...PLAYBOOK_HOST_OPERATIONS,
  ...BACKUP_OPERATIONS,
  ...WORKFLOW_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...RULE_OPERATIONS,
  ...SILENCE_OPERATIONS,
  ...MUTE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...CHECK_OPERATIONS,
  ...NETGROUP_OPERATIONS,
  ...SCHEDULE_OPERATIONS,
  ...AGENDA_OPERATIONS,
  ...HOST_REQUEST_OPERATIONS,
  ...NOTIFY_OPERATIONS,
  ...DEADMAN_OPERATIONS,
  ...configOperations(() => OPERATIONS),
  ...SECRET_OPERATIONS,
  ...SEAL_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...MAINTENANCE_OPERATIONS,
  ...RESTART_OPERATIONS,
  ...NODE_OPERATIONS,
  ...TOKEN_OPERATIONS,
];
