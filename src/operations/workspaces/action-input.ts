import type { z } from 'zod';
import type { WorkspaceAction } from '../../domain/workspaces/action.ts';
import type { WorkspaceKind } from '../../domain/workspaces/workspace.ts';
import type { ActionInput } from '../core/action-input.ts';
import * as field from '../core/fields.ts';

/** Each kind is named by a field that holds its workspace. */
export const WORKSPACE_FIELDS = {
  plan: field.name.optional().describe('Plan this workspace'),
  drift: field.name.optional().describe('Look whether this workspace is still what its code says'),
  apply: field.name.optional().describe('Apply this workspace afresh'),
  destroy: field.name.optional().describe('Destroy what this workspace holds'),
} satisfies Record<WorkspaceKind, z.ZodType>;

export function workspaceInput(
  kind: WorkspaceKind,
): ActionInput<z.output<z.ZodObject<typeof WORKSPACE_FIELDS>>, WorkspaceAction> {
  return {
    read({ [kind]: workspace }) {
      return workspace === undefined ? null : (timeout) => ({ workspace, timeout });
    },
    refusal: () => null,
  };
}
