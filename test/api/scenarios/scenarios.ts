import type { Scenario } from '../../support/scenario.ts';
import { CONFIGURATION_SCENARIOS } from './checks/configuration.ts';
import { DECISION_SCENARIOS } from './approval-decisions.ts';
import { APPROVAL_SCENARIOS } from './approvals.ts';
import { BACKUP_SCENARIOS } from './backups/backups.ts';
import { CHECK_SCENARIOS } from './checks/checks.ts';
import { COMMAND_SCENARIOS } from './commands.ts';
import { EVENT_SCENARIOS } from './events.ts';
import { FROM_AFAR_SCENARIOS } from './from-afar.ts';
import { HOST_SCENARIOS } from './hosts.ts';
import { JOB_SCENARIOS } from './jobs/jobs.ts';
import { MUTE_SCENARIOS } from './mutes.ts';
import { NETGROUP_SCENARIOS } from './netgroups.ts';
import { NOTIFY_SCENARIOS } from './notify.ts';
import { PLAYBOOK_SCENARIOS } from './playbooks.ts';
import { ORDER_SCENARIOS } from './jobs/orders.ts';
import { RERUN_SCENARIOS } from './jobs/reruns.ts';
import { RULE_SCENARIOS } from './rules.ts';
import { SCHEDULE_SCENARIOS } from './schedules.ts';
import { SECRET_SCENARIOS } from './secrets.ts';
import { SERVICE_SCENARIOS } from './service.ts';
import { SOURCE_SCENARIOS } from './sources.ts';
import { WIRE_SCENARIOS } from './wire.ts';
import { WORKSPACE_SCENARIOS } from './workspaces.ts';

/** Those of all operations, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  ...SERVICE_SCENARIOS,
  ...JOB_SCENARIOS,
  ...RERUN_SCENARIOS,
  ...ORDER_SCENARIOS,
  ...COMMAND_SCENARIOS,
  ...PLAYBOOK_SCENARIOS,
  ...SOURCE_SCENARIOS,
  ...WORKSPACE_SCENARIOS,
  ...APPROVAL_SCENARIOS,
  ...DECISION_SCENARIOS,
  ...SECRET_SCENARIOS,
  ...BACKUP_SCENARIOS,
  ...HOST_SCENARIOS,
  ...MUTE_SCENARIOS,
  ...SCHEDULE_SCENARIOS,
  ...EVENT_SCENARIOS,
  ...NETGROUP_SCENARIOS,
  ...CHECK_SCENARIOS,
  ...RULE_SCENARIOS,
  ...NOTIFY_SCENARIOS,
  ...FROM_AFAR_SCENARIOS,
  ...WIRE_SCENARIOS,
  ...CONFIGURATION_SCENARIOS,
];
