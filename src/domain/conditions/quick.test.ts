import assert from 'node:assert/strict';
import { test } from 'node:test';
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
];
/** Left to the library. */
const SLOW = [
  'event.name.matches("^a")',
  'event.labels.x == event.name',
  'size(event.labels) == 2',
  '"a".startsWith(event.name)',
  'event.name in [event.severity]',
  'true',
  '"x" in event.labels',
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

test('What is answered without the library is what the library answers', async () => {
  const known = { true: 0, false: 0, undefined: 0 };
  for (const expression of expressions()) {
    const checked = await checkRuleCel(expression);
    const quick = quickOf(checked.expr);
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

test('Comparisons of texts with constants are answered without the library, and what looks at a missing label is not', async () => {
  for (const expression of QUICK) {
    const quick = quickOf((await checkRuleCel(expression)).expr);
    const isMissing = expression.startsWith('event.labels.missing');
    assert.equal(typeof quick?.(facts('a', 'b')), isMissing ? 'undefined' : 'boolean', expression);
  }
  for (const expression of SLOW) assert.equal(quickOf((await checkRuleCel(expression)).expr), null, expression);
});
