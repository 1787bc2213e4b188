import type { Entry } from '../../domain/configuration/change.ts';
import { type Action, RULE_ACTIONS, type RuleActionKind } from '../../domain/rules/actions.ts';
import { STEP_ACTIONS, type StepAction } from '../../domain/rules/step-actions.ts';
import { readWorkflow } from '../../domain/workflows/file.ts';
import type { Step } from '../../domain/workflows/workflow.ts';
import { stepFields } from '../../domain/workflows/write-file.ts';
import { fromJson } from '../../lib/json.ts';
import { listWorkflows } from '../../store/workflows/workflows.ts';
import type { Call, ConfigSection } from '../core/sections/section.ts';
import { WORKFLOW_SCHEMA } from './configuration-schema.ts';

function entryOf(steps: readonly Step<StepAction>[]): Entry {
  return { steps: stepFields(steps, writeAs) };
}

function writeAs<K extends RuleActionKind>(action: Action<K>): Entry {
  return RULE_ACTIONS[action.kind].write(action);
}

function add(name: string, to: Entry, replace: boolean): Call {
  return ['workflow.add', { text: JSON.stringify({ name, ...to }), replace }];
}

export const workflowsSection: ConfigSection = {
  word: 'workflow',
  schema: () => WORKFLOW_SCHEMA,
  async stored({ db }) {
    const rows = await listWorkflows(db);
    return new Map(rows.map((row) => [row.name, entryOf(fromJson(row.definition).steps)]));
  },
  read: async (map, restore) => restore(entryOf((await readWorkflow(map, STEP_ACTIONS)).steps)),
  add: (name, to) => [add(name, to, false)],
  change: (name, _from, to) => [add(name, to, true)],
  remove: (name) => [['workflow.remove', { name }]],
};
