import { APPROVAL_TTL_MAX_MS } from '../approvals/approval.ts';
import { CelRefused, didYouMean } from '../cel/refused.ts';
import { parseDuration, formatDuration } from '../duration.ts';
import { Failure } from '../failure.ts';
import { NAME } from '../name.ts';
import { ONE_TAP_KINDS } from '../approvals/one-tap.ts';
import { lintCondition } from '../conditions/condition.ts';
import { actionRefused, conditionRefused, lineOf, refused } from './file-place.ts';
import { ActionRefused } from './action-refused.ts';
import { compileAction, lintAction } from './fill.ts';
import {
  ACTION_KINDS,
  type Action,
  type ActionKind,
  LATER_ACTION_KINDS,
  RULE_APPROVALS,
  type Rule,
  type RuleApproval,
} from './rule.ts';
import { readYaml, type YamlMap, type YamlValue } from '../yaml/file.ts';

/** What a rule file says; `name` is null where it has none. */
export interface RuleFile extends Omit<Rule, 'name' | 'enabled' | 'owners'> {
  readonly name: string | null;
}

const RULE_FIELDS = ['name', 'when', 'cooldown', 'approval', 'approval_ttl', 'one_tap', 'action'];
/** The fields beside the one that says the kind. */
const ACTION_FIELDS: Readonly<Record<ActionKind, readonly string[]>> = {
  command: ['inventory', 'limit', 'timeout'],
  plan: ['timeout'],
  apply: ['timeout'],
  destroy: ['timeout'],
  notify: [],
};
/** Fields of a kind that is refused: it is told by its name and not by them. */
const LATER_FIELDS = new Set(['source', 'tags', 'skip_tags', 'check', 'diff', 'extra_vars']);

const DURATION_MIN_MS = 1_000;
/** A rule that fires once in a year is one that was disabled. */
const COOLDOWN_MAX_MS = 366 * 86_400_000;

/**
 * Reads a rule file and checks all of it, with its expressions. Throws invalid_argument that names the field and its
 * line, and not_implemented for an action whose jobs there are not yet.
 */
export async function readRuleFile(text: string): Promise<RuleFile> {
  const { rule, when, action } = await parse(text);
  try {
    await lintCondition(rule.when);
  } catch (thrown) {
    throw thrown instanceof CelRefused ? conditionRefused(when, thrown) : thrown;
  }
  try {
    await compileAction(rule.action);
    await lintAction(rule.action);
  } catch (thrown) {
    throw thrown instanceof ActionRefused ? actionRefused(action, thrown) : thrown;
  }
  return rule;
}

interface Parsed {
  readonly rule: RuleFile;
  /** The fields whose expressions are checked after the file was read. */
  readonly when: YamlValue;
  readonly action: YamlValue;
}

async function parse(text: string): Promise<Parsed> {
  const file = await readYaml(text);
  if (file.kind !== 'map')
    throw new Failure('invalid_argument', 'file: expected fields such as name, when and action.');
  refuseOthers(file, RULE_FIELDS, '');
  const [when, action] = [need(file, 'when', ''), need(file, 'action', '')];
  const rule = {
    name: nameOf(file),
    when: textOf('when', when),
    cooldownMs: durationOf(file, 'cooldown', COOLDOWN_MAX_MS),
    approval: approvalOf(file),
    approvalTtlMs: durationOf(file, 'approval_ttl', APPROVAL_TTL_MAX_MS),
    ...(booleanOf(file, 'one_tap') ? { oneTap: true } : {}),
    action: actionOf(action),
  };
  if (rule.action.kind === 'notify' && rule.approval === 'required') {
    throw refused(
      'approval',
      need(file, 'approval', ''),
      'a rule that only notifies makes no job that could wait for one',
    );
  }
  const ttl = file.fields.get('approval_ttl');
  if (ttl !== undefined && rule.approval !== 'required')
    throw refused('approval_ttl', ttl, 'it goes with approval: required');
  const oneTap = file.fields.get('one_tap');
  if (oneTap !== undefined && rule.oneTap === true) {
    if (rule.approval !== 'required') throw refused('one_tap', oneTap, 'it goes with approval: required');
    if (!ONE_TAP_KINDS.includes(rule.action.kind))
      throw refused('one_tap', oneTap, 'only a command can be approved by one tap');
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

function nameOf(file: YamlMap): string | null {
  const value = file.fields.get('name');
  if (value === undefined) return null;
  const name = textOf('name', value);
  if (!NAME.test(name))
    throw refused('name', value, 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit');
  return name;
}

function approvalOf(file: YamlMap): RuleApproval {
  const value = file.fields.get('approval');
  if (value === undefined) return 'none';
  const text = value.kind === 'text' ? value.text : '';
  const approval = RULE_APPROVALS.find((each) => each === text);
  if (approval === undefined) throw refused('approval', value, `expected ${RULE_APPROVALS.join(' or ')}`);
  return approval;
}

function durationOf(file: YamlMap, field: string, maxMs: number): number | null {
  const value = file.fields.get(field);
  if (value === undefined) return null;
  const ms = parseDuration(textOf(field, value));
  if (ms === null) throw refused(field, value, 'expected a duration such as 30s, 5m or 1h30m');
  if (ms < DURATION_MIN_MS || ms > maxMs)
    throw refused(field, value, `expected at least 1s and at most ${formatDuration(maxMs)}`);
  return ms;
}

function actionOf(value: YamlValue): Action {
  if (value.kind !== 'map')
    throw refused('action', value, `expected one of ${ACTION_KINDS.join(', ')}, with its fields`);
  const later = LATER_ACTION_KINDS.find((kind) => value.fields.has(kind));
  if (later !== undefined) {
    throw new Failure(
      'not_implemented',
      `action.${later}${lineOf(value.fields.get(later) ?? value)}: a rule can not do this until those jobs ` +
        `exist; it can do ${ACTION_KINDS.join(', ')}.`,
    );
  }
  const kinds = ACTION_KINDS.filter((kind) => value.fields.has(kind));
  const [kind] = kinds;
  if (
    kind === undefined &&
    [...value.fields.keys()].every((name) => LATER_FIELDS.has(name) || ACTION_FIELDS.command.includes(name))
  ) {
    throw refused('action', value, `it says not what to do: expected one of ${ACTION_KINDS.join(', ')}`);
  }
  if (kind === undefined) refuseOthers(value, [...ACTION_KINDS, ...ACTION_FIELDS.command], 'action.');
  if (kind === undefined || kinds.length > 1)
    throw refused('action', value, `expected one of ${ACTION_KINDS.join(', ')}, and there are ${kinds.join(' and ')}`);
  refuseOthers(value, [kind, ...ACTION_FIELDS[kind]], 'action.');
  return ACTIONS[kind](value, need(value, kind, 'action.'));
}

/** One row for each kind: what its fields are made into. */
const ACTIONS: { readonly [K in ActionKind]: (map: YamlMap, value: YamlValue) => Action } = {
  command: (map, value) => ({
    kind: 'command',
    command: wordsOf(value),
    inventory: textOf('action.inventory', need(map, 'inventory', 'action.')),
    limit: optional(map, 'limit'),
    timeout: optional(map, 'timeout'),
  }),
  plan: (map, value) => ({ kind: 'plan', workspace: textOf('action.plan', value), timeout: optional(map, 'timeout') }),
  apply: (map, value) => ({
    kind: 'apply',
    workspace: textOf('action.apply', value),
    timeout: optional(map, 'timeout'),
  }),
  destroy: (map, value) => ({
    kind: 'destroy',
    workspace: textOf('action.destroy', value),
    timeout: optional(map, 'timeout'),
  }),
  notify: (_map, value) => ({ kind: 'notify', message: messageOf(value) }),
};

function wordsOf(value: YamlValue): string[] {
  if (value.kind !== 'list')
    throw refused('action.command', value, 'expected a list of words, as in ["df", "-h"]; no shell reads it');
  return value.items.map((item) => textOf('action.command', item));
}

function messageOf(value: YamlValue): string | null {
  if (value.kind === 'text' && value.type === 'boolean' && value.text.toLowerCase() === 'true') return null;
  if (value.kind === 'text' && value.type === 'string') return value.text;
  throw refused('action.notify', value, 'expected true, or the text of the message');
}

function optional(map: YamlMap, field: string): string | null {
  const value = map.fields.get(field);
  return value === undefined ? null : textOf(`action.${field}`, value);
}

/** A number or a boolean is taken as it is written. An empty field is refused: an empty limit would mean all hosts. */
function textOf(field: string, value: YamlValue): string {
  if (value.kind === 'text' && value.type === 'null')
    throw refused(field, value, 'expected a value, and there is none');
  if (value.kind === 'text') return value.text;
  // What an unquoted ${…} in brackets is read as.
  const hint = value.kind === 'map' ? '; a value that holds ${…} or { needs quotes around it' : '';
  throw refused(field, value, `expected text${hint}`);
}

function need(map: YamlMap, field: string, prefix: string): YamlValue {
  const value = map.fields.get(field);
  if (value === undefined) throw refused(`${prefix}${field}`, map, 'this field is required');
  return value;
}

function refuseOthers(map: YamlMap, known: readonly string[], prefix: string): void {
  for (const [name, value] of map.fields) {
    if (known.includes(name)) continue;
    const shown = JSON.stringify(name.slice(0, 80));
    const hint = didYouMean(name, known) || `; there are ${known.join(', ')}`;
    throw new Failure('invalid_argument', `${prefix}${shown}${lineOf(value)}: no such field here${hint}.`);
  }
}
