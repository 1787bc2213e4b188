import { ActionRefused } from '../actions/action-refused.ts';
import { Unfilled } from '../actions/field.ts';
import type { EventFacts } from '../events/event.ts';
import { type Action, RULE_ACTIONS, type RuleActionKind } from './actions.ts';

/** An action whose expressions are checked. */
export interface CompiledAction<K extends RuleActionKind = RuleActionKind> {
  /** Never throws. What it fills in is valid for its field; an error names the field and no value of the event. */
  fill(facts: EventFacts): { readonly action: Action<K> } | { readonly error: string };
}

/** Most `${…}` in one action: each takes 1 ms to compile, and every reader of the rules waits for all of them. */
const EXPRESSIONS_MAX = 50;

/** Checks an action with its expressions; `isEarlier`: an earlier build stored its rule. Throws ActionRefused. */
export async function compileAction<K extends RuleActionKind>(
  action: Action<K>,
  isEarlier = false,
): Promise<CompiledAction<K>> {
  const { kind } = action;
  const count = JSON.stringify(action).split('${').length - 1;
  if (count > EXPRESSIONS_MAX)
    throw new ActionRefused(kind, `expected at most ${EXPRESSIONS_MAX} times \${…}; found ${count}`);
  const fields = await RULE_ACTIONS[kind].compile(action, isEarlier);
  return {
    fill(facts) {
      try {
        const filled: Action<K> = {
          kind,
          ...fields((field) => {
            const value = field(facts);
            if ('error' in value) throw new Unfilled(value.error);
            return value.text;
          }),
        };
        return { action: filled };
      } catch (thrown) {
        if (thrown instanceof Unfilled) return { error: thrown.message };
        throw thrown;
      }
    },
  };
}
