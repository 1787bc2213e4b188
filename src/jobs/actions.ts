import { jobTimeoutMs } from '../domain/jobs/timeout.ts';
import { isNotify } from '../domain/actions/notify-action.ts';
import type { Action, ActionFields, JobActionKind, RuleAction } from '../domain/rules/actions.ts';
import type { Tx } from '../store/engine/tx.ts';
import type { ActionRow, QueuedSome } from './action-row.ts';
import { backupAction } from './backups/action.ts';
import { commandAction } from './commands/action.ts';
import { playbookAction } from './playbooks/action.ts';
import type { Queueing } from './queue.ts';
import { workflowAction } from './workflows/action.ts';
import { driftOfAll, workspaceAction } from './workspaces/action.ts';

/** The actions of rules and schedules that make a job; the row of each belongs to its area. */
const ACTIONS: { readonly [K in JobActionKind]: ActionRow<ActionFields[K]> } = {
  plan: workspaceAction('plan'),
  drift: workspaceAction('drift'),
  drift_all: driftOfAll,
  apply: workspaceAction('apply'),
  destroy: workspaceAction('destroy'),
  command: commandAction,
  playbook: playbookAction,
  workflow: workflowAction((queueing, action) => queueAction(queueing, action)),
  backup: backupAction,
};

/** What its jobs have as their runbook. */
export function runbookOf<K extends JobActionKind>(action: Action<K>): string {
  return ACTIONS[action.kind].runbook(action);
}

/**
 * Checks the names in an action when a rule or a schedule is defined: with a wrong name its job would be refused each
 * time. Throws like the rows.
 */
export async function requireTargets<K extends JobActionKind>(
  tx: Tx,
  action: Action<K>,
  known: (text: string) => boolean = () => true,
): Promise<void> {
  await ACTIONS[action.kind].requireTargets(tx, action, known);
}

/** Like `requireTargets`, for a rule: a value with `${…}` is known only with the event. */
export async function requireRuleTargets(tx: Tx, action: RuleAction): Promise<void> {
  if (!isNotify(action)) await requireTargets(tx, action, (text) => !text.includes('${'));
}

/** Queues the job of a rule or a schedule. Throws like its row, and invalid_argument for a time-out. */
export function queueAction<K extends JobActionKind>(queueing: Queueing, action: Action<K>): Promise<QueuedSome> {
  return ACTIONS[action.kind].queue(queueing, { ...action, timeoutMs: jobTimeoutMs(action.timeout) });
}

/** Queues more jobs of an action that stopped at `after`. Says where it stops, null after the last. */
export async function queueRest<K extends JobActionKind>(
  queueing: Queueing,
  action: Action<K>,
  after: string,
): Promise<string | null> {
  const order = { ...action, timeoutMs: jobTimeoutMs(action.timeout) };
  return (await ACTIONS[action.kind].queueRest?.(queueing, order, after)) ?? null;
}
