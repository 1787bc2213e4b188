import type { JobKind } from '../domain/jobs/job.ts';
import { type QueueRules, UNCHANGING } from './queue-rules.ts';
import { APPLY_RULES, DESTROY_RULES, READING_RULES } from './workspaces/queue-rules.ts';

export const QUEUE_RULES = {
  plan: READING_RULES,
  apply: APPLY_RULES,
  destroy: DESTROY_RULES,
  drift: READING_RULES,
  playbook: UNCHANGING,
  command: UNCHANGING,
  backup: UNCHANGING,
  vendor: UNCHANGING,
} as const satisfies Record<JobKind, QueueRules>;
