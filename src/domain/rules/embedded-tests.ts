import { isDeepStrictEqual } from 'node:util';
import { compileCondition } from '../conditions/condition.ts';
import { EVENT_SOURCES, EVENT_STATUSES, type EventFacts } from '../events/event.ts';
import { need, refused, refuseOthers, textOf } from '../yaml/fields.ts';
import type { YamlMap, YamlValue } from '../yaml/file.ts';
import { type Json, jsonOf } from '../yaml/json.ts';
import { type Action, RULE_ACTIONS, type RuleActionKind } from './actions.ts';
import type { RuleFile } from './file.ts';
import { compileAction } from './fill.ts';

/**
 * The tests of a rule in a configuration file: an event, and what the rule does with it. Cooldowns, silences and
 * approvals are not tested, because they depend on earlier events.
 */

/** Most tests of one rule. */
const TESTS_MAX = 100;

/** `ignored`: the condition is false; `error`: it has no value, or a value of the event is refused by its field. */
const EXPECTATIONS = ['fires', 'ignored', 'error'] as const;

const TEST_FIELDS = ['name', 'event', 'expect', 'action'];
const TEXTS = ['source', 'name', 'status', 'severity', 'fingerprint', 'netgroup'] as const;
const EVENT_FIELDS = [...TEXTS, 'labels', 'annotations', 'received_at'];

/** Runs the tests of a rule, if any. Throws invalid_argument with the line of the first one that fails. */
export async function runEmbeddedTests(rule: RuleFile, tests: YamlValue | undefined): Promise<void> {
  if (tests === undefined) return;
  if (tests.kind !== 'list') throw refused('tests', tests, 'expected a list of tests');
  if (tests.items.length > TESTS_MAX) throw refused('tests', tests, `expected at most ${TESTS_MAX} tests`);
  const [condition, action] = [await compileCondition(rule.when), await compileAction(rule.action)];
  for (const [index, map] of tests.items.entries()) {
    const prefix = `tests[${index}]`;
    if (map.kind !== 'map') throw refused(prefix, map, 'expected a test with the fields event and expect');
    const test = readTest(map, `${prefix}.`);
    const answer = condition.evaluate(test.facts);
    const filled = 'value' in answer && answer.value ? action.fill(test.facts) : null;
    const fault = 'error' in answer ? answer.error : filled !== null && 'error' in filled ? filled.error : null;
    const found = fault !== null ? 'error' : filled === null ? 'ignored' : 'fires';
    const why = fault === null ? '' : ` (${fault})`;
    if (found !== test.expect)
      throw refused(
        `${prefix}.expect`,
        need(map, 'expect'),
        `the test failed: expected ${test.expect}; got ${found}${why}`,
      );
    if (test.action !== null && filled !== null && 'action' in filled)
      compareAction(filled.action, test.action, `${prefix}.action.`);
  }
}

interface Test {
  readonly facts: EventFacts;
  readonly expect: (typeof EXPECTATIONS)[number];
  /** Fields that the action has when it is filled with the values of the event. */
  readonly action: YamlMap | null;
}

function readTest(map: YamlMap, prefix: string): Test {
  refuseOthers(map, TEST_FIELDS, prefix);
  const value = need(map, 'expect', prefix);
  const text = textOf(`${prefix}expect`, value);
  const expect = EXPECTATIONS.find((each) => each === text);
  if (expect === undefined) throw refused(`${prefix}expect`, value, `expected one of ${EXPECTATIONS.join(', ')}`);
  const action = map.fields.get('action');
  if (action !== undefined && (action.kind !== 'map' || expect !== 'fires'))
    throw refused(`${prefix}action`, action, 'expected fields of the action, of a test that expects fires');
  return { facts: factsIn(need(map, 'event', prefix), `${prefix}event`), expect, action: action ?? null };
}

function factsIn(event: YamlValue, named: string): EventFacts {
  if (event.kind !== 'map') throw refused(named, event, 'expected fields of an event, such as source and name');
  refuseOthers(event, EVENT_FIELDS, `${named}.`);
  const text = (field: string): string | null => {
    const value = event.fields.get(field);
    return value === undefined ? null : textOf(`${named}.${field}`, value);
  };
  return {
    source: oneOf(event, named, 'source', EVENT_SOURCES) ?? 'generic',
    name: text('name') ?? '',
    status: oneOf(event, named, 'status', EVENT_STATUSES),
    severity: text('severity'),
    fingerprint: text('fingerprint') ?? '',
    netgroup: text('netgroup'),
    labels: pairsIn(event, named, 'labels'),
    annotations: pairsIn(event, named, 'annotations'),
    receivedAt: timeIn(event, named),
  };
}

function oneOf<W extends string>(event: YamlMap, named: string, field: string, words: readonly W[]): W | null {
  const value = event.fields.get(field);
  if (value === undefined) return null;
  const text = textOf(`${named}.${field}`, value);
  const word = words.find((each) => each === text);
  if (word === undefined) throw refused(`${named}.${field}`, value, `expected one of ${words.join(', ')}`);
  return word;
}

function pairsIn(event: YamlMap, named: string, field: string): Record<string, string> {
  const value = event.fields.get(field);
  if (value === undefined) return {};
  if (value.kind !== 'map') throw refused(`${named}.${field}`, value, 'expected names with their values');
  return Object.fromEntries([...value.fields].map(([name, each]) => [name, textOf(`${named}.${field}`, each)]));
}

/** Milliseconds; a fixed time if the test has none, so that it never depends on the clock. */
function timeIn(event: YamlMap, named: string): number {
  const value = event.fields.get('received_at');
  if (value === undefined) return Date.UTC(2026, 0, 1, 12);
  const ms = Date.parse(textOf(`${named}.received_at`, value));
  if (Number.isNaN(ms)) throw refused(`${named}.received_at`, value, 'expected a time such as 2026-01-01T12:00:00Z');
  return ms;
}

function compareAction(action: Action<RuleActionKind>, expected: YamlMap, prefix: string): void {
  const found = writeAs(action);
  for (const [field, value] of expected.fields) {
    const wanted = asTexts(jsonOf(value));
    if (isDeepStrictEqual(wanted, asTexts((found[field] ?? null) as Json))) continue;
    const shown = found[field] === undefined ? 'no such field' : JSON.stringify(found[field]);
    throw refused(`${prefix}${field}`, value, `the test failed: expected ${JSON.stringify(wanted)}; got ${shown}`);
  }
}

function writeAs<K extends RuleActionKind>(action: Action<K>): Readonly<Record<string, unknown>> {
  return RULE_ACTIONS[action.kind].write(action);
}

/** Each number and boolean as its text: an action holds the words of a command as texts. */
function asTexts(value: Json): Json {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'number' || typeof each === 'boolean' ? String(each) : each,
  ) as Json;
}
