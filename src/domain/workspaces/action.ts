import { given, optionalText, type RuleActionRow } from '../actions/action-row.ts';
import { field, name, optional, timeout } from '../actions/field.ts';
import { subjectOf } from '../events/causes.ts';
import { textOf } from '../yaml/fields.ts';
import type { WorkspaceKind } from './workspace.ts';

/** What an action that queues a run of a workspace says beside its kind. */
export interface WorkspaceAction {
  readonly workspace: string;
  readonly timeout: string | null;
}

/** What an action that queues a run of every workspace says beside its kind. */
export interface EveryWorkspaceAction {
  readonly timeout: string | null;
}

export function workspaceRuleAction(kind: WorkspaceKind): RuleActionRow<WorkspaceAction> {
  return {
    others: ['timeout'],
    read: (map, value, prefix) => ({
      workspace: textOf(`${prefix}${kind}`, value),
      timeout: optionalText(map, 'timeout', prefix),
    }),
    write: ({ workspace, timeout: time }) => ({ [kind]: workspace, ...given('timeout', time) }),
    subjects: ({ workspace }) => [subjectOf('workspace', workspace)],
    async compile(action) {
      const workspace = await field(kind, action.workspace, name);
      const time = await optional('timeout', action.timeout, timeout);
      return (fill) => ({ workspace: fill(workspace), timeout: time && fill(time) });
    },
  };
}
