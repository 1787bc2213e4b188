import type { Subject } from '../events/causes.ts';
import type { StepActions } from '../workflows/file.ts';
import { need, refused, refuseOthers } from '../yaml/fields.ts';
import type { YamlMap } from '../yaml/file.ts';
import { type Action, type JobActionKind, RULE_ACTION_KINDS, RULE_ACTIONS, type RuleActionKind } from './actions.ts';
import { compileAction } from './fill.ts';

type StepActionKind = Extract<RuleActionKind, JobActionKind>;
/** What a step of a workflow does. In it, `${…}` is an expression over the event that started the run. */
export type StepAction = Action<StepActionKind>;

function isStepKind(kind: RuleActionKind): kind is StepActionKind {
  return RULE_ACTIONS[kind].isStep !== false;
}

const STEP_KINDS = RULE_ACTION_KINDS.filter(isStepKind);

/** The actions of steps: those of rules, except what makes no job. */
export const STEP_ACTIONS: StepActions<StepAction> = {
  read(step, own, prefix) {
    const [kind, ...others] = STEP_KINDS.filter((each) => step.fields.has(each));
    const named = prefix.replace(/\.$/, '');
    if (kind !== undefined && others.length > 0)
      throw refused(named, step, `expected one of ${STEP_KINDS.join(', ')}; found ${[kind, ...others].join(' and ')}`);
    if (kind !== undefined) return readAs(kind, step, own, prefix);
    refuseOthers(step, [...own, ...STEP_KINDS, ...STEP_KINDS.flatMap((each) => RULE_ACTIONS[each].others)], prefix);
    throw refused(named, step, `no action given; expected one of ${STEP_KINDS.join(', ')}`);
  },
  async check(action) {
    await compileAction(action);
  },
};

/** What the action of a step names. */
export function subjectsOfStep<K extends StepActionKind>(action: Action<K>): readonly Subject[] {
  return RULE_ACTIONS[action.kind].subjects(action);
}

function readAs<K extends StepActionKind>(kind: K, step: YamlMap, own: readonly string[], prefix: string): Action<K> {
  const row = RULE_ACTIONS[kind];
  refuseOthers(step, [...own, kind, ...row.others], prefix);
  return { kind, ...row.read(step, need(step, kind, prefix), prefix) };
}
