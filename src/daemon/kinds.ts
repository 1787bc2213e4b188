import { BACKUP_RUN } from './backups/run-support.ts';
import { COMMAND_RUN } from './commands/run-support.ts';
import { CONFIG_RUN } from './config-order/run-support.ts';
import { PLAYBOOK_RUN } from './playbooks/run-support.ts';
import { VENDOR_RUN } from './vendor/run-support.ts';
import { WORKSPACE_RUNS } from './workspaces/run-support.ts';
import type { RunKinds } from './jobs/run-support.ts';

/** How the daemon runs each kind of job. */
export const RUN_SUPPORT: RunKinds = {
  ...WORKSPACE_RUNS,
  command: COMMAND_RUN,
  playbook: PLAYBOOK_RUN,
  backup: BACKUP_RUN,
  vendor: VENDOR_RUN,
  config: CONFIG_RUN,
};
