import { formatDuration } from '../duration.ts';
import { writeYaml } from '../yaml/write.ts';
import { type Action, RULE_ACTIONS, type RuleActionKind } from './actions.ts';
import type { Rule } from './rule.ts';

/** A rule as a file that `readRuleFile` reads as the same rule. Fields with their default are left out. */
export function writeRuleFile(rule: Omit<Rule, 'enabled' | 'owners'>): Promise<string> {
  return writeYaml({ name: rule.name, ...ruleFields(rule) });
}

/** The fields of the file, besides the name. */
export function ruleFields(rule: Omit<Rule, 'enabled' | 'owners' | 'name'>): Readonly<Record<string, unknown>> {
  const { when, cooldownMs, approval, approvalTtlMs, oneTap, summary, action } = rule;
  return {
    when,
    ...(cooldownMs === null ? {} : { cooldown: formatDuration(cooldownMs) }),
    ...(approval === 'none' ? {} : { approval }),
    ...(approvalTtlMs === null ? {} : { approval_ttl: formatDuration(approvalTtlMs) }),
    ...(oneTap === true ? { one_tap: true } : {}),
    ...(summary === null || summary === undefined ? {} : { summary }),
    action: writeAs(action),
  };
}

function writeAs<K extends RuleActionKind>(action: Action<K>): Readonly<Record<string, unknown>> {
  return RULE_ACTIONS[action.kind].write(action);
}
