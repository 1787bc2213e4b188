import type { RuleActionRow } from '../actions/action-row.ts';
import { field, name } from '../actions/field.ts';
import { textOf } from '../yaml/fields.ts';

/** What an action that runs a workflow says beside its kind. */
export interface WorkflowAction {
  readonly workflow: string;
  /** Each step has its own. */
  readonly timeout: null;
}

export const workflowRuleAction: RuleActionRow<WorkflowAction> = {
  others: [],
  isStep: false,
  read: (_map, value, prefix) => ({ workflow: textOf(`${prefix}workflow`, value), timeout: null }),
  write: ({ workflow }) => ({ workflow }),
  subjects: () => [],
  async compile(action) {
    const workflow = await field('workflow', action.workflow, name);
    return (fill) => ({ workflow: fill(workflow), timeout: null });
  },
};
