import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compileCondition } from '../../domain/conditions/condition.ts';
import type { EventFacts } from '../../domain/events/event.ts';
import { indexed } from './rule-set.ts';

const TERMS = [
  'event.status == "firing"',
  '"a" == event.labels.alertname',
  'event.labels.alertname in ["a", "b"]',
  'event.labels.host.matches("^(a|b)$")',
  'event.labels.host.matches("^a")',
  'event.labels.alertname.matches("^b( |$)")',
  'event.labels.host.startsWith("")',
  'event.labels.host.matches("^ab(?i)?")',
  'event.annotations["x.y"].startsWith("ab")',
  'event.labels.missing == ""',
  'event.name != "a"',
  'int(event.labels.host) == 1',
  '(event.labels.host == "b" || event.name == "b")',
  'event.annotations["x.y"] == "b"',
];

function facts(alertname: string, host: string, status: EventFacts['status']): EventFacts {
  const labels = { alertname, host };
  const rest = { severity: null, fingerprint: 'f', netgroup: null, receivedAt: 0 };
  return { source: 'alertmanager', name: alertname, status, labels, annotations: { 'x.y': host }, ...rest };
}

test('A rule that is no candidate for an event does not match it, whatever its other terms are', async () => {
  const conditions = new Map<string, Awaited<ReturnType<typeof compileCondition>>>();
  const text = fc.constantFrom('a', 'b', 'c', '', 'ab', 'abc', 'b a');
  const whens = fc.array(
    fc.array(fc.constantFrom(...TERMS), { minLength: 1, maxLength: 3 }).map((terms) => terms.join(' && ')),
    { maxLength: 8 },
  );
  let left = 0;
  await fc.assert(
    fc.asyncProperty(
      whens,
      text,
      text,
      fc.constantFrom('firing', 'resolved' as const),
      async (texts, alert, host, status) => {
        const rules = await Promise.all(
          texts.map(async (when) => {
            const condition = conditions.get(when) ?? (await compileCondition(when));
            conditions.set(when, condition);
            return condition;
          }),
        );
        const event = facts(alert, host, status);
        const candidates = indexed(rules).candidates(event);
        assert.deepEqual(
          candidates,
          [...new Set(candidates)].toSorted((a, b) => a - b),
        );
        for (const [at, rule] of rules.entries()) {
          if (candidates.includes(at)) continue;
          left += 1;
          assert.deepEqual(rule.evaluate(event), { value: false }, texts[at] ?? '');
        }
      },
    ),
    { numRuns: 400 },
  );
  assert.ok(left > 100, `${left} were left out`);
});

test('A rule is filed under the requirement that it shares with the fewest', async () => {
  const rules = await Promise.all(
    ['a', 'b', 'c'].map((name) => compileCondition(`event.status == "firing" && event.labels.alertname == "${name}"`)),
  );
  assert.deepEqual(indexed(rules).candidates(facts('b', '', 'firing')), [1]);
  assert.deepEqual(indexed(rules).candidates(facts('z', '', 'firing')), []);
});
