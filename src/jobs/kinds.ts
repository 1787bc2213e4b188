import type { JobKind } from '../domain/jobs/job.ts';
import { type QueueRules, UNCHANGING } from './queue-rules.ts';
import { APPLY_RULES, DESTROY_RULES, READING_RULES } from './workspaces/queue-rules.ts';

/** What a kind knows about its jobs while they wait and after they ended. */
export const QUEUE_RULES: Readonly<Record<JobKind, QueueRules>> = {
  plan: READING_RULES,
  apply: APPLY_RULES,
  destroy: DESTROY_RULES,
  drift: READING_RULES,
  playbook: UNCHANGING,
  command: UNCHANGING,
  backup: UNCHANGING,
  vendor: UNCHANGING,
};
