import { ActionRefused } from '../actions/action-refused.ts';
import { ACTION_PREFIX } from '../actions/action-row.ts';
import { actionRefused } from '../actions/refused-at.ts';
import { approvalIn } from '../approvals/file-fields.ts';
import { summaryFault } from '../approvals/summary.ts';
import { CelRefused } from '../cel/refused.ts';
import { Failure } from '../failure.ts';
import { ONE_TAP_KINDS } from '../approvals/one-tap.ts';
import { compileCondition } from '../conditions/condition.ts';
import { isNotify } from '../actions/notify-action.ts';
import { durationIn, expressionRefused, nameIn } from '../yaml/value-fields.ts';
import { need, refused, refuseOthers, textOf } from '../yaml/fields.ts';
import { readYaml, type YamlMap, type YamlValue } from '../yaml/file.ts';
import { compileAction } from './fill.ts';
import { type Action, RULE_ACTION_KINDS, RULE_ACTIONS, type RuleAction, type RuleActionKind } from './actions.ts';
import type { Rule } from './rule.ts';

/** The content of a rule file; `name` is null if it has none. */
export interface RuleFile extends Omit<Rule, 'name' | 'enabled' | 'owners'> {
  readonly name: string | null;
}

const RULE_FIELDS = ['name', 'when', 'cooldown', 'approval', 'approval_ttl', 'one_tap', 'summary', 'action'];
/** Fields of all kinds beside those that name the kind. */
const OTHER_FIELDS = [...new Set(RULE_ACTION_KINDS.flatMap((kind) => RULE_ACTIONS[kind].others))];

/** A rule that fires once in a year is one that was disabled. */
const COOLDOWN_MAX_MS = 366 * 86_400_000;

/**
 * Reads a rule file and checks all of it, with its expressions. Throws invalid_argument that names the field and its
 * line.
 */
export async function readRuleFile(text: string): Promise<RuleFile> {
  const file = await readYaml(text);
  if (file.kind !== 'map')
    throw new Failure('invalid_argument', 'file: expected fields such as name, when and action.');
  return readRule(file);
}

/** The same of fields that were read, as of one rule of several in a file. */
export async function readRule(file: YamlMap): Promise<RuleFile> {
  const { rule, when, action } = parse(file);
  try {
    await compileCondition(rule.when);
  } catch (thrown) {
    throw thrown instanceof CelRefused ? expressionRefused('when', when, thrown) : thrown;
  }
  try {
    await compileAction(rule.action);
  } catch (thrown) {
    throw thrown instanceof ActionRefused ? actionRefused(ACTION_PREFIX, action, thrown) : thrown;
  }
  return rule;
}

interface Parsed {
  readonly rule: RuleFile;
  /** The fields whose expressions are checked after the file was read. */
  readonly when: YamlValue;
  readonly action: YamlValue;
}

function parse(file: YamlMap): Parsed {
  refuseOthers(file, RULE_FIELDS);
  const [when, action] = [need(file, 'when'), need(file, 'action')];
  const rule = {
    name: nameIn(file),
    when: textOf('when', when),
    cooldownMs: durationIn(file, 'cooldown', COOLDOWN_MAX_MS),
    ...approvalIn(file),
    ...(booleanOf(file, 'one_tap') ? { oneTap: true } : {}),
    ...summaryOf(file),
    action: actionOf(action),
  };
  if (isNotify(rule.action) && rule.approval === 'required') {
    throw refused('approval', need(file, 'approval'), 'a rule that only notifies makes no job that could wait for one');
  }
  const oneTap = file.fields.get('one_tap');
  if (oneTap !== undefined && rule.oneTap === true) {
    if (rule.approval !== 'required') throw refused('one_tap', oneTap, 'expected only with approval: required');
    if (!ONE_TAP_KINDS.includes(rule.action.kind))
      throw refused('one_tap', oneTap, 'only a command or a playbook can be approved by one tap');
  }
  return { rule, when, action };
}

function booleanOf(file: YamlMap, field: string): boolean {
  const value = file.fields.get(field);
  if (value === undefined) return false;
  const text = value.kind === 'text' && value.type === 'boolean' ? value.text.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw refused(field, value, 'expected true or false');
  return text === 'true';
}

function summaryOf(file: YamlMap): Pick<RuleFile, 'summary'> {
  const value = file.fields.get('summary');
  if (value === undefined) return {};
  const summary = textOf('summary', value);
  const fault = summaryFault(summary);
  if (fault !== null) throw refused('summary', value, fault);
  return { summary };
}

function actionOf(value: YamlValue): RuleAction {
  if (value.kind !== 'map')
    throw refused('action', value, `expected one of ${RULE_ACTION_KINDS.join(', ')}, with its fields`);
  const kinds = RULE_ACTION_KINDS.filter((kind) => value.fields.has(kind));
  const [kind] = kinds;
  if (kind === undefined && [...value.fields.keys()].every((name) => OTHER_FIELDS.includes(name))) {
    throw refused('action', value, `no action given; expected one of ${RULE_ACTION_KINDS.join(', ')}`);
  }
  if (kind === undefined) refuseOthers(value, [...RULE_ACTION_KINDS, ...OTHER_FIELDS], ACTION_PREFIX);
  if (kind === undefined || kinds.length > 1)
    throw refused('action', value, `expected one of ${RULE_ACTION_KINDS.join(', ')}; found ${kinds.join(' and ')}`);
  return readAs(kind, value);
}

function readAs<K extends RuleActionKind>(kind: K, map: YamlMap): Action<K> {
  const row = RULE_ACTIONS[kind];
  refuseOthers(map, [kind, ...row.others], ACTION_PREFIX);
  return { kind, ...row.read(map, need(map, kind, ACTION_PREFIX), ACTION_PREFIX) };
}
