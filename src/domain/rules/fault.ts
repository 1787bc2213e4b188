import { CelRefused } from '../cel/refused.ts';
import { compileCondition } from '../conditions/condition.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { compileAction } from './fill.ts';
import { type Action, RULE_ACTIONS, type RuleAction, type RuleActionKind } from './actions.ts';
import type { Rule } from './rule.ts';

/**
 * Why this version refuses a stored rule that an earlier version accepted: the field and its fault; null if it accepts
 * the rule. A refused rule is an error at each event. Takes some milliseconds.
 */
export async function ruleFault({
  when,
  action,
  isEarlier,
}: Pick<Rule, 'when' | 'action' | 'isEarlier'>): Promise<string | null> {
  try {
    await compileCondition(when);
    await compileAction(action, isEarlier);
    return null;
  } catch (thrown) {
    if (thrown instanceof CelRefused) return `when: ${thrown.message}`;
    if (thrown instanceof ActionRefused) return `action.${thrown.message}`;
    throw thrown;
  }
}

/** Why an action that an earlier build stored has to be written in another way, as far as its text says; or null. */
export async function outdated(action: RuleAction): Promise<string | null> {
  const fault = await ruleFault({ when: 'true', action });
  if (fault !== null) return fault;
  const doubt = await mayRefuse(action);
  return doubt === null ? null : `action.${doubt}`;
}

async function mayRefuse<K extends RuleActionKind>(action: Action<K>): Promise<string | null> {
  return (await RULE_ACTIONS[action.kind].mayRefuse?.(action)) ?? null;
}
