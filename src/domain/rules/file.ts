import { ActionRefused } from '../actions/action-refused.ts';
import { ACTION_PREFIX } from '../actions/action-row.ts';
import { summaryFault } from '../approvals/summary.ts';
import { APPROVAL_TTL_MAX_MS } from '../approvals/approval.ts';
import { CelRefused } from '../cel/refused.ts';
import { parseDuration, formatDuration } from '../duration.ts';
import { Failure } from '../failure.ts';
import { NAME } from '../name.ts';
import { ONE_TAP_KINDS } from '../approvals/one-tap.ts';
import { compileCondition } from '../conditions/condition.ts';
import { isNotify } from '../notify/action.ts';
import { lineOf, need, refused, refuseOthers, textOf } from '../yaml/fields.ts';
import { readYaml, type YamlMap, type YamlValue } from '../yaml/file.ts';
import { compileAction } from './fill.ts';
import {
  type Action,
  LATER_ACTION_KINDS,
  RULE_ACTION_KINDS,
  RULE_ACTIONS,
  type RuleAction,
  type RuleActionKind,
} from './actions.ts';
import { RULE_APPROVALS, type Rule, type RuleApproval } from './rule.ts';

/** The content of a rule file; `name` is null if it has none. */
export interface RuleFile extends Omit<Rule, 'name' | 'enabled' | 'owners'> {
  readonly name: string | null;
}

const RULE_FIELDS = ['name', 'when', 'cooldown', 'approval', 'approval_ttl', 'one_tap', 'summary', 'action'];
/** Fields of all kinds beside those that name the kind. */
const OTHER_FIELDS = [...new Set(RULE_ACTION_KINDS.flatMap((kind) => RULE_ACTIONS[kind].others))];
/** Fields of a kind that is refused: the refusal names the kind and not them. */
const LATER_FIELDS = new Set(['source', 'tags', 'skip_tags', 'check', 'diff', 'extra_vars']);

const DURATION_MIN_MS = 1_000;
/** A rule that fires once in a year is one that was disabled. */
const COOLDOWN_MAX_MS = 366 * 86_400_000;

/**
 * Reads a rule file and checks all of it, with its expressions. Throws invalid_argument that names the field and its
 * line, and not_implemented for an action whose jobs do not exist yet.
 */
export async function readRuleFile(text: string): Promise<RuleFile> {
  const { rule, when, action } = await parse(text);
  try {
    await compileCondition(rule.when);
  } catch (thrown) {
    throw thrown instanceof CelRefused ? conditionRefused(when, thrown) : thrown;
  }
  try {
    await compileAction(rule.action);
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
  refuseOthers(file, RULE_FIELDS);
  const [when, action] = [need(file, 'when'), need(file, 'action')];
  const rule = {
    name: nameOf(file),
    when: textOf('when', when),
    cooldownMs: durationOf(file, 'cooldown', COOLDOWN_MAX_MS),
    approval: approvalOf(file),
    approvalTtlMs: durationOf(file, 'approval_ttl', APPROVAL_TTL_MAX_MS),
    ...(booleanOf(file, 'one_tap') ? { oneTap: true } : {}),
    ...summaryOf(file),
    action: actionOf(action),
  };
  if (isNotify(rule.action) && rule.approval === 'required') {
    throw refused('approval', need(file, 'approval'), 'a rule that only notifies makes no job that could wait for one');
  }
  const ttl = file.fields.get('approval_ttl');
  if (ttl !== undefined && rule.approval !== 'required')
    throw refused('approval_ttl', ttl, 'expected only with approval: required');
  const oneTap = file.fields.get('one_tap');
  if (oneTap !== undefined && rule.oneTap === true) {
    if (rule.approval !== 'required') throw refused('one_tap', oneTap, 'expected only with approval: required');
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

function summaryOf(file: YamlMap): Pick<RuleFile, 'summary'> {
  const value = file.fields.get('summary');
  if (value === undefined) return {};
  const summary = textOf('summary', value);
  const fault = summaryFault(summary);
  if (fault !== null) throw refused('summary', value, fault);
  return { summary };
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

function actionOf(value: YamlValue): RuleAction {
  if (value.kind !== 'map')
    throw refused('action', value, `expected one of ${RULE_ACTION_KINDS.join(', ')}, with its fields`);
  const later = LATER_ACTION_KINDS.find((kind) => value.fields.has(kind));
  if (later !== undefined) {
    throw new Failure(
      'not_implemented',
      `action.${later}${lineOf(value.fields.get(later) ?? value)}: a rule cannot do this until those jobs ` +
        `exist; it can do ${RULE_ACTION_KINDS.join(', ')}.`,
    );
  }
  const kinds = RULE_ACTION_KINDS.filter((kind) => value.fields.has(kind));
  const [kind] = kinds;
  if (
    kind === undefined &&
    [...value.fields.keys()].every((name) => LATER_FIELDS.has(name) || OTHER_FIELDS.includes(name))
  ) {
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

/** The refusal of a `when`, with the line of the fault if the expression has several lines. */
function conditionRefused(when: YamlValue, fault: CelRefused): Failure {
  const { offset } = fault;
  const start =
    when.kind === 'text' && offset !== null ? when.starts?.findLast((each) => each.offset <= offset) : undefined;
  if (start === undefined || offset === null) return refused('when', when, fault.message);
  return refused('when', start, `character ${offset - start.offset + 1}: ${fault.what}`);
}

/** The refusal of a field of an action, with its line, or the line of the word of a command that has the fault. */
function actionRefused(action: YamlValue, { field, what, word }: ActionRefused): Failure {
  const value = (action.kind === 'map' ? action.fields.get(field) : undefined) ?? action;
  const faulty = value.kind === 'list' && word !== null ? value.items[word] : undefined;
  return refused(`${ACTION_PREFIX}${field}`, faulty ?? value, what);
}
