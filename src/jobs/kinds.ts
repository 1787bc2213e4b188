import type { JobKind } from '../domain/jobs/job.ts';
import { COMMAND_RULES } from './commands/queue-rules.ts';
import { CONFIG_RULES } from './config-order/queue-rules.ts';
import { PLAYBOOK_RULES } from './playbooks/queue-rules.ts';
import { type QueueRules, UNCHANGING } from './queue-rules.ts';
import { workspaceRules } from './workspaces/queue-rules.ts';

/** What a kind knows about its jobs while they wait and after they ended. */
export const QUEUE_RULES: Readonly<Record<JobKind, QueueRules>> = {
  plan: workspaceRules('plan'),
  apply: workspaceRules('apply'),
  destroy: workspaceRules('destroy'),
  drift: workspaceRules('drift'),
  playbook: PLAYBOOK_RULES,
  command: COMMAND_RULES,
  backup: UNCHANGING,
  vendor: UNCHANGING,
  config: CONFIG_RULES,
};
