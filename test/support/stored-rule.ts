/** Rules as the store keeps them. */
import { insertRule, type NewRule } from '../../src/store/rules.ts';
import type { Store } from '../../src/store/store.ts';
import { TRUE } from './reaction-maker.ts';

export function rule(name: string, some: Partial<NewRule> = {}): NewRule {
  return {
    name,
    when: 'event.source == "generic"',
    cooldownMs: null,
    approval: 'none',
    approvalTtlMs: null,
    action: TRUE,
    owners: ['ana'],
    addedBy: 'ana',
    ...some,
  };
}

export const add = (store: Store, name: string, some: Partial<NewRule> = {}) =>
  store.write((tx) => insertRule(tx, rule(name, some)));
