import { given, type RuleActionRow } from '../actions/action-row.ts';
import { type BackupAction, backupRuleAction } from '../backups/action.ts';
import { type CommandAction, commandRuleAction } from '../commands/action.ts';
import { type NotifyAction, notifyRuleAction } from '../actions/notify-action.ts';
import { type PlaybookAction, playbookRuleAction } from '../playbooks/action.ts';
import { type WorkflowAction, workflowRuleAction } from '../workflows/action.ts';
import { type EveryWorkspaceAction, type WorkspaceAction, workspaceRuleAction } from '../workspaces/action.ts';

/** What each kind of action says beside its kind. */
export interface ActionFields {
  command: CommandAction;
  playbook: PlaybookAction;
  backup: BackupAction;
  plan: WorkspaceAction;
  drift: WorkspaceAction;
  drift_all: EveryWorkspaceAction;
  apply: WorkspaceAction;
  destroy: WorkspaceAction;
  workflow: WorkflowAction;
  notify: NotifyAction;
}

type ActionKind = keyof ActionFields;
/** Kinds that make a job: those of a schedule. */
export const JOB_ACTION_KINDS = [
  'plan',
  'drift',
  'drift_all',
  'apply',
  'destroy',
  'command',
  'playbook',
  'workflow',
  'backup',
] as const satisfies readonly ActionKind[];
export type JobActionKind = (typeof JOB_ACTION_KINDS)[number];

/** The action of a rule or a schedule. In a rule, `${…}` is an expression, checked as the type of its field. */
export type Action<K extends ActionKind = ActionKind> = { [P in K]: { readonly kind: P } & ActionFields[P] }[K];

/** Actions of a rule file. Drift checks are for schedules only: their end is an event that rules can match. */
export const RULE_ACTION_KINDS = [
  'command',
  'playbook',
  'plan',
  'apply',
  'destroy',
  'workflow',
  'backup',
  'notify',
] as const satisfies readonly ActionKind[];
export type RuleActionKind = (typeof RULE_ACTION_KINDS)[number];
export type RuleAction = Action<RuleActionKind>;

/** What a rule file says of each kind of action; the row of each belongs to its area. */
export const RULE_ACTIONS: { readonly [K in RuleActionKind]: RuleActionRow<ActionFields[K]> } = {
  command: commandRuleAction,
  playbook: playbookRuleAction,
  plan: workspaceRuleAction('plan'),
  apply: workspaceRuleAction('apply'),
  destroy: workspaceRuleAction('destroy'),
  workflow: workflowRuleAction,
  backup: backupRuleAction,
  notify: notifyRuleAction,
};

/** How a file says what a schedule does. */
export const JOB_ACTION_WRITES: { readonly [K in JobActionKind]: RuleActionRow<ActionFields[K]>['write'] } = {
  plan: RULE_ACTIONS.plan.write,
  drift: workspaceRuleAction('drift').write,
  drift_all: ({ timeout }) => ({ drift_all: true, ...given('timeout', timeout) }),
  apply: RULE_ACTIONS.apply.write,
  destroy: RULE_ACTIONS.destroy.write,
  command: RULE_ACTIONS.command.write,
  playbook: RULE_ACTIONS.playbook.write,
  workflow: RULE_ACTIONS.workflow.write,
  backup: RULE_ACTIONS.backup.write,
};
