import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { EventFacts } from '../events/event.ts';
import { checkRuleCel, eventContext } from './facts.ts';
import { quickOf } from './quick.ts';

const QUICK = [
  'event.name == "a"',
  '"firing" == event.status',
  'event["severity"] != ""',
  'event.labels.x == "a"',
  'event.labels["x.y"].startsWith("b")',
  'event.labels.x.endsWith("é")',
  'event.labels.x.contains("")',
  'event.name in ["a", "b"]',
  'has(event.labels.x)',
  'has(event.labels.missing)',
  'event.annotations.x == "a" || has(event.annotations.y)',
  'event.labels.missing == "a"',
  'event.labels.missing.contains("a")',
  'event.name.matches("^a$")',
  'event.labels.x.matches("^(?:a|b|aé)$")',
  'event.name.matches("^(|b)$")',
  'event.name.matches("a")',
  'event.name.matches("^a")',
  'event.labels.x.matches("^a[bé]?$")',
  'event.labels.missing.matches("^b+(a|)")',
  'event.name.matches("(?i)^A.?$")',
];
/** Left to the library. */
const SLOW = [
  'event.labels.x == event.name',
  'size(event.labels) == 2',
  '"a".startsWith(event.name)',
  'event.name in [event.severity]',
  'true',
  '"x" in event.labels',
  'event.labels["mis" + "sing"] == "a"',
  '[event.labels][0].missing != ""',
  'int(event.labels.missing) == 1',
];
const TEXTS = ['a', 'b', '', 'aé', '😀b'];

function facts(text: string, other: string): EventFacts {
  const labels = { x: other, 'x.y': text };
  return {
    source: 'alertmanager',
    name: text,
    status: null,
    severity: text === '' ? null : text,
    fingerprint: 'f',
    labels,
    annotations: { x: text },
    netgroup: null,
    receivedAt: 0,
  };
}

/** Every two terms with a third, joined in three ways. */
function* expressions(): Generator<string> {
  const terms = [...QUICK, ...SLOW];
  for (const [i, first] of terms.entries()) {
    for (const [j, second] of terms.entries()) {
      const third = terms[(i * 5 + j) % terms.length] ?? 'true';
      yield (
        [
          `${first} && ${second} && ${third}`,
          `${first} && (${second} || !(${third}))`,
          `!(${first} && ${second}) || ${third}`,
        ][(i + j) % 3] ?? 'true'
      );
    }
  }
}

test('An evaluation without the library gives the result of the library', async () => {
  const known = { true: 0, false: 0, undefined: 0 };
  for (const expression of expressions()) {
    const checked = await checkRuleCel(expression);
    const quick = quickOf(checked);
    for (const [k, text] of TEXTS.entries()) {
      const event = facts(text, TEXTS[(k + 2) % TEXTS.length] ?? '');
      const value = quick?.(event);
      known[`${value ?? 'undefined'}`] += 1;
      if (value === undefined) continue;
      const outcome = checked.run(eventContext(event));
      assert.equal(
        'error' in outcome ? outcome.error : outcome.value,
        value,
        `${expression} for ${JSON.stringify(event)}`,
      );
    }
  }
  for (const count of Object.values(known)) assert.ok(count > 100, JSON.stringify(known));
});

test('Comparisons of texts with constants are answered without the library, of a missing label too', async () => {
  for (const expression of QUICK)
    assert.equal(typeof quickOf(await checkRuleCel(expression))?.(facts('a', 'b')), 'boolean', expression);
  for (const expression of SLOW) assert.equal(quickOf(await checkRuleCel(expression)), null, expression);
});

/** A missing label reads as an empty one, in both ways; only a test for it distinguishes them. */
test('A missing label reads as an empty one', async () => {
  const label = fc.constantFrom('event.labels.x', 'event.labels["x.y"]', 'event.annotations.x', 'event.labels.missing');
  const constant = fc.constantFrom(...TEXTS).map((text) => JSON.stringify(text));
  const term = fc.oneof(
    fc.tuple(label, fc.constantFrom('==', '!='), fc.oneof(constant, label)).map((parts) => parts.join(' ')),
    fc
      .tuple(label, fc.constantFrom('startsWith', 'endsWith', 'contains'), constant)
      .map(([of, name, to]) => `${of}.${name}(${to})`),
    fc.tuple(label, constant).map(([of, to]) => `${of} in [${to}]`),
  );
  const expression = fc.tuple(term, fc.constantFrom('&&', '||'), term).map((parts) => parts.join(' '));
  await fc.assert(
    fc.asyncProperty(expression, fc.constantFrom(...TEXTS), fc.subarray(['x', 'x.y']), async (text, value, names) => {
      const checked = await checkRuleCel(text);
      const pairs = Object.fromEntries(names.map((name) => [name, value]));
      const bare = { ...facts('a', 'b'), labels: pairs, annotations: pairs };
      const full = { x: '', 'x.y': '', missing: '', ...pairs };
      const outcome = checked.run(eventContext(bare));
      assert.deepEqual(outcome, checked.run(eventContext({ ...bare, labels: full, annotations: full })));
      assert.ok('value' in outcome);
      const quick = quickOf(checked)?.(bare);
      if (quick !== undefined) assert.equal(quick, outcome.value);
    }),
  );
});
