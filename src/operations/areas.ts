import type { Operation } from './core/operation.ts';

/** A part of the table. */
interface Area {
  /** The ids of its operations, or the nouns that they begin with. */
  readonly ids: readonly string[];
  load(): Promise<readonly Operation[]>;
}

/**
 * The areas of the table of operations, in its order. Each is loaded by itself: a verb on the machine needs one, and
 * all of them took half of its start.
 */
const AREAS: readonly Area[] = [
  { ids: ['whoami', 'doctor'], load: async () => (await import('./service/service.ts')).SERVICE_OPERATIONS },
  { ids: ['openapi'], load: async () => [(await import('./openapi.ts')).openapiOperation(loadAll)] },
  { ids: ['job', 'maintenance.interrupted'], load: async () => (await import('./jobs/jobs.ts')).JOB_OPERATIONS },
  { ids: ['job'], load: async () => (await import('./jobs/redrive.ts')).REDRIVE_OPERATIONS },
  { ids: ['job'], load: async () => (await import('./jobs/rerun.ts')).RERUN_OPERATIONS },
  { ids: ['approval'], load: async () => (await import('./approvals/approvals.ts')).APPROVAL_OPERATIONS },
  { ids: ['approval'], load: async () => (await import('./approvals/approval-links.ts')).APPROVAL_LINK_OPERATIONS },
  { ids: ['workspace'], load: async () => (await import('./workspaces/workspaces.ts')).WORKSPACE_OPERATIONS },
  {
    ids: ['workspace'],
    load: async () => (await import('./workspaces/workspace-export.ts')).WORKSPACE_EXPORT_OPERATIONS,
  },
  {
    ids: ['workspace'],
    load: async () => (await import('./workspaces/workspace-restore.ts')).WORKSPACE_RESTORE_OPERATIONS,
  },
  { ids: ['workspace'], load: async () => (await import('./workspaces/workspace-plans.ts')).WORKSPACE_PLAN_OPERATIONS },
  { ids: ['workspace'], load: async () => (await import('./workspaces/workspace-runs.ts')).WORKSPACE_RUN_OPERATIONS },
  { ids: ['source', 'hooks'], load: async () => (await import('./sources/sources.ts')).SOURCE_OPERATIONS },
  { ids: ['vendor'], load: async () => (await import('./vendor/vendor.ts')).VENDOR_OPERATIONS },
  { ids: ['inventory'], load: async () => (await import('./inventories/inventories.ts')).INVENTORY_OPERATIONS },
  {
    ids: ['command', 'job.command', 'job.result'],
    load: async () => (await import('./commands/commands.ts')).COMMAND_OPERATIONS,
  },
  { ids: ['playbook'], load: async () => (await import('./playbooks/playbooks.ts')).PLAYBOOK_OPERATIONS },
  { ids: ['playbook'], load: async () => (await import('./playbooks/playbook-hosts.ts')).PLAYBOOK_HOST_OPERATIONS },
  { ids: ['backup'], load: async () => (await import('./backups/backups.ts')).BACKUP_OPERATIONS },
  { ids: ['workflow'], load: async () => (await import('./workflows/workflows.ts')).WORKFLOW_OPERATIONS },
  { ids: ['event'], load: async () => (await import('./events/events.ts')).EVENT_OPERATIONS },
  { ids: ['rule'], load: async () => (await import('./rules/rules.ts')).RULE_OPERATIONS },
  { ids: ['silence'], load: async () => (await import('./rules/silences.ts')).SILENCE_OPERATIONS },
  { ids: ['mute'], load: async () => (await import('./rules/mutes.ts')).MUTE_OPERATIONS },
  { ids: ['webhook'], load: async () => (await import('./events/webhooks.ts')).WEBHOOK_OPERATIONS },
  { ids: ['check'], load: async () => (await import('./checks/checks.ts')).CHECK_OPERATIONS },
  { ids: ['netgroup'], load: async () => (await import('./netgroups/netgroups.ts')).NETGROUP_OPERATIONS },
  { ids: ['schedule'], load: async () => (await import('./schedules/schedules.ts')).SCHEDULE_OPERATIONS },
  { ids: ['schedule'], load: async () => (await import('./schedules/agenda.ts')).AGENDA_OPERATIONS },
  { ids: ['host'], load: async () => (await import('./events/host-requests.ts')).HOST_REQUEST_OPERATIONS },
  { ids: ['notify', 'job.notify'], load: async () => (await import('./notify/notify.ts')).NOTIFY_OPERATIONS },
  { ids: ['deadman'], load: async () => (await import('./events/deadman.ts')).DEADMAN_OPERATIONS },
  {
    ids: ['config'],
    load: async () => (await import('./configuration/configuration.ts')).configOperations(loadOperation),
  },
  { ids: ['secret'], load: async () => (await import('./secrets/secrets.ts')).SECRET_OPERATIONS },
  { ids: ['seal'], load: async () => (await import('./secrets/seal.ts')).SEAL_OPERATIONS },
  { ids: ['audit'], load: async () => (await import('./audit/audit.ts')).AUDIT_OPERATIONS },
  { ids: ['maintenance'], load: async () => (await import('./maintenance/maintenance.ts')).MAINTENANCE_OPERATIONS },
  { ids: ['maintenance'], load: async () => (await import('./maintenance/restart.ts')).RESTART_OPERATIONS },
  { ids: ['node'], load: async () => (await import('./maintenance/nodes.ts')).NODE_OPERATIONS },
  { ids: ['token'], load: async () => (await import('./access/tokens.ts')).TOKEN_OPERATIONS },
];

/** The rows of all areas. */
export async function loadAll(): Promise<readonly Operation[]> {
  return (await Promise.all(AREAS.map((area) => area.load()))).flat();
}

/** The operation of this id, without the areas that it is not in. Throws for an unknown id. */
export async function loadOperation(id: string): Promise<Operation> {
  const [noun = ''] = id.split('.');
  const own = AREAS.filter(({ ids }) => ids.includes(id));
  const areas = own.length > 0 ? own : AREAS.filter(({ ids }) => ids.includes(noun));
  const rows = await Promise.all(areas.map((area) => area.load()));
  const operation = rows.flat().find((row) => row.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
}
