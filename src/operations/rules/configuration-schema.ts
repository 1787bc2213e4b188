import { EVENT_SOURCES, EVENT_STATUSES } from '../../domain/events/event.ts';
import { RULE_ACTION_KINDS } from '../../domain/rules/actions.ts';
import type { Node } from '../core/json-schema.ts';
import { actionProperties, APPROVAL, CONDITION, DURATION } from '../core/sections/action-schema.ts';

const text: Node = { type: ['string', 'number'] };
const pairs: Node = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } };

const EVENT: Node = {
  type: 'object',
  additionalProperties: false,
  properties: {
    source: { enum: [...EVENT_SOURCES] },
    name: text,
    status: { enum: [...EVENT_STATUSES] },
    severity: text,
    fingerprint: text,
    netgroup: text,
    labels: pairs,
    annotations: pairs,
    received_at: { type: 'string', description: 'A time; default 2026-01-01T12:00:00Z' },
  },
};

const TEST: Node = {
  type: 'object',
  additionalProperties: false,
  required: ['event', 'expect'],
  properties: {
    name: { type: 'string', description: 'What the test is about' },
    event: EVENT,
    expect: { enum: ['fires', 'ignored', 'error'] },
    action: { type: 'object', description: 'Fields of the action, with the values of the event in them' },
  },
};

/** An entry of `rules`, the name aside: that of a rule file, and what only a configuration file has. */
export const RULE_SCHEMA: Node = {
  type: 'object',
  additionalProperties: false,
  required: ['when', 'action'],
  properties: {
    when: { ...CONDITION, description: 'CEL over event; true for the events that the rule reacts to' },
    cooldown: DURATION,
    approval: APPROVAL,
    approval_ttl: DURATION,
    one_tap: { type: 'boolean' },
    summary: { type: 'string', maxLength: 200 },
    action: {
      type: 'object',
      additionalProperties: false,
      anyOf: RULE_ACTION_KINDS.map((kind) => ({ required: [kind] })),
      properties: actionProperties(),
    },
    enabled: { type: 'boolean', default: true },
    tests: { type: 'array', items: TEST, maxItems: 100, description: 'Run before anything is written' },
  },
};
