import { type RuleActionKind, RULE_ACTION_KINDS, RULE_ACTIONS } from '../../../domain/rules/actions.ts';
import type { Node } from '../json-schema.ts';

const scalar: Node = { type: ['string', 'number', 'boolean'] };

/** The fields of these kinds of actions; each text may hold `${…}`. */
export function actionProperties(kinds: readonly RuleActionKind[] = RULE_ACTION_KINDS): Readonly<Record<string, Node>> {
  const fields = new Set(kinds.flatMap((kind) => [kind, ...RULE_ACTIONS[kind].others]));
  const own = new Map<string, Node>(kinds.flatMap((kind) => Object.entries(RULE_ACTIONS[kind].schemas ?? {})));
  return Object.fromEntries([...fields].map((field) => [field, own.get(field) ?? scalar]));
}

export const DURATION: Node = { type: 'string', description: 'A duration such as 30s, 5m or 1h30m' };
export const APPROVAL: Node = { enum: ['none', 'required'], description: 'Whether it waits for an approval' };
export const CONDITION: Node = { type: ['string', 'boolean'], description: 'A CEL expression' };
