import type * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import type { WorkflowAction } from '../../domain/workflows/action.ts';
import type { ActionInput } from '../core/action-input.ts';
import * as field from '../core/fields.ts';

export const WORKFLOW_FIELDS = { workflow: field.name.optional().describe('Start a run of this workflow') };

export const workflowInput: ActionInput<z.output<z.ZodObject<typeof WORKFLOW_FIELDS>>, WorkflowAction> = {
  read({ workflow }) {
    if (workflow === undefined) return null;
    return (timeout) => {
      if (timeout !== null)
        throw new Failure('invalid_argument', 'timeout: not allowed with a workflow; each of its steps has its own.');
      return { workflow, timeout };
    };
  },
  refusal: () => null,
};
