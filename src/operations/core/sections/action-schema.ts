import { type RuleActionKind, RULE_ACTION_KINDS, RULE_ACTIONS } from '../../../domain/rules/actions.ts';
import type { Node } from '../json-schema.ts';

const text: Node = { type: 'string' };
const scalar: Node = { type: ['string', 'number', 'boolean'] };
const flag: Node = { type: 'boolean' };
const texts: Node = { type: 'array', items: scalar };

/** The fields of actions that are no plain text. */
const SHAPES: Readonly<Record<string, Node>> = {
  command: { ...texts, description: 'The program and its arguments, one word each; no shell reads it' },
  egress_ports: { type: 'array', items: { type: ['integer', 'string'] } },
  privileged: flag,
  writable: texts,
  tags: { type: ['string', 'array'], items: text },
  skip_tags: { type: ['string', 'array'], items: text },
  check: flag,
  diff: flag,
  extra_vars: { type: 'object' },
  tolerate_unreachable: flag,
};

/** The fields of these kinds of actions; each text may hold `${…}`. */
export function actionProperties(kinds: readonly RuleActionKind[] = RULE_ACTION_KINDS): Readonly<Record<string, Node>> {
  const fields = new Set(kinds.flatMap((kind) => [kind, ...RULE_ACTIONS[kind].others]));
  return Object.fromEntries([...fields].map((field) => [field, SHAPES[field] ?? scalar]));
}

export const DURATION: Node = { type: 'string', description: 'A duration such as 30s, 5m or 1h30m' };
export const APPROVAL: Node = { enum: ['none', 'required'], description: 'Whether it waits for an approval' };
export const CONDITION: Node = { type: ['string', 'boolean'], description: 'A CEL expression' };
