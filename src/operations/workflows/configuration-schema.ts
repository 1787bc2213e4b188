import { RULE_ACTION_KINDS, RULE_ACTIONS } from '../../domain/rules/actions.ts';
import { STEPS_MAX } from '../../domain/workflows/workflow.ts';
import type { Node } from '../core/json-schema.ts';
import { actionProperties, APPROVAL, CONDITION, DURATION } from '../core/sections/action-schema.ts';

const STEP_KINDS = RULE_ACTION_KINDS.filter((kind) => RULE_ACTIONS[kind].isStep !== false);

const STEP: Node = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  anyOf: STEP_KINDS.map((kind) => ({ required: [kind] })),
  properties: {
    name: { type: 'string' },
    needs: { type: 'array', items: { type: 'string' }, description: 'Default: the step before' },
    when: { ...CONDITION, description: 'CEL over steps; default: every needed step succeeded or is degraded' },
    approval: APPROVAL,
    approval_ttl: DURATION,
    ...actionProperties(STEP_KINDS),
  },
};

/** An entry of `workflows`, the name aside: that of a workflow file. */
export const WORKFLOW_SCHEMA: Node = {
  type: 'object',
  additionalProperties: false,
  required: ['steps'],
  properties: { steps: { type: 'array', items: STEP, minItems: 1, maxItems: STEPS_MAX } },
};
