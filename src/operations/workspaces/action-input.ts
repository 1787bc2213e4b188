import type * as z from 'zod';
import type { EveryWorkspaceAction, WorkspaceAction } from '../../domain/workspaces/action.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import type { ActionInput } from '../core/action-input.ts';
import * as field from '../core/fields.ts';

const workspace = field.as('WORKSPACE', field.name.clone());

/** Each kind is named by a field that holds its workspace. */
export const WORKSPACE_FIELDS = {
  plan: workspace.optional().describe('Plan this workspace'),
  drift: workspace.optional().describe('Check this workspace for drift'),
  apply: workspace.optional().describe('Apply a new plan of this workspace'),
  destroy: workspace.optional().describe('Destroy the resources of this workspace'),
  drift_all: field.flag.describe('Check every workspace for drift'),
} satisfies Record<WorkspaceKind | 'drift_all', z.ZodType>;

type Input = z.output<z.ZodObject<typeof WORKSPACE_FIELDS>>;

export const driftOfAllInput: ActionInput<Input, EveryWorkspaceAction> = {
  read: ({ drift_all: all }) => (all ? (timeout) => ({ timeout }) : null),
  refusal: () => null,
};

export function workspaceInput(kind: WorkspaceKind): ActionInput<Input, WorkspaceAction> {
  return {
    read({ [kind]: workspace }) {
      return workspace === undefined ? null : (timeout) => ({ workspace, timeout });
    },
    refusal: () => null,
  };
}
