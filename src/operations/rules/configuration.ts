import { isDeepStrictEqual } from 'node:util';
import type { Entry } from '../../domain/configuration/change.ts';
import { runEmbeddedTests } from '../../domain/rules/embedded-tests.ts';
import { readRule } from '../../domain/rules/file.ts';
import { ruleFields } from '../../domain/rules/write-file.ts';
import { listRules, ruleOf } from '../../store/rules/rules.ts';
import { type Call, type ConfigSection, disabledOf, switchCalls, without } from '../core/sections/section.ts';
import { enabledIn, onlyFields } from '../core/sections/read-entry.ts';
import { RULE_SCHEMA } from './configuration-schema.ts';

/** What a rule has here and not in a file of one rule. */
const OWN = ['enabled', 'tests'];

function add(name: string, to: Entry, replace: boolean): Call {
  const file = { name, ...without(to, 'enabled') };
  // JSON is YAML; written once, it is read by the operation like a file of one rule.
  return ['rule.add', { text: JSON.stringify(file), replace, disabled: to['enabled'] === false }];
}

export const rulesSection: ConfigSection = {
  word: 'rule',
  schema: () => RULE_SCHEMA,
  async stored({ db }) {
    const rows = (await listRules(db)).map(ruleOf);
    return new Map(rows.map((rule) => [rule.name, { ...ruleFields(rule), ...disabledOf(rule.enabled) }]));
  },
  async read(map, restore) {
    const rule = await readRule(onlyFields(map, (field) => !OWN.includes(field)));
    await runEmbeddedTests(rule, map.fields.get('tests'));
    return restore({ ...ruleFields(rule), ...disabledOf(enabledIn(map)) });
  },
  add: (name, to) => [add(name, to, false)],
  change(name, from, to) {
    const isSame = isDeepStrictEqual(without(from, 'enabled'), without(to, 'enabled'));
    // A replaced rule stays enabled or disabled, and is switched by a call that adds its owner.
    return [...(isSame ? [] : [add(name, without(to, 'enabled'), true)]), ...switchCalls('rule', name, from, to)];
  },
  remove: (name) => [['rule.remove', { name }]],
};
