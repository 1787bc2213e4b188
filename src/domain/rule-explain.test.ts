import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventFacts } from './event.ts';
import { explainTerms } from './rule-explain.ts';

const FACTS: EventFacts = {
  source: 'alertmanager',
  name: 'DiskFull',
  status: 'firing',
  severity: null,
  fingerprint: 'f',
  labels: { instance: 'web1:9100', 'disk-kind': 'nvme', note: 'x'.repeat(300) },
  annotations: {},
  netgroup: null,
  receivedAt: Date.parse('2026-11-21T10:00:00Z'),
};

const NO_MOUNT = 'the event has no "mount"; its labels are disk-kind, instance, note';

/** Each term with its result and its why. */
const ROWS: readonly (readonly [when: string, terms: readonly (readonly [result: string, why: string | null])[]])[] = [
  ['event.source == "alertmanager" && event.name == "Other"', [['true', null], ['false', 'event.name is "DiskFull"']]],
  ['event.severity == "page" && event.labels.mount == "/"', [['false', 'event.severity is ""'], ['error', NO_MOUNT]]],
  ['(event.name == "A" || event.labels["disk-kind"] == "sata")', [['false', 'event.name is "DiskFull", event.labels["disk-kind"] is "nvme"']]],
  ['!event.labels.instance.startsWith("web")', [['false', 'event.labels.instance is "web1:9100"']]],
  ['has(event.labels.mount)', [['false', null]]],
  ['event.labels.exists(l, l == event.name)', [['false', 'event.name is "DiskFull"']]],
  ['["a", event.labels.instance].exists(x, x == "b")', [['false', 'event.labels.instance is "web1:9100"']]],
  ['event.labels.note == event.labels.note + "y"', [['false', `event.labels.note is "${'x'.repeat(100)}…"`]]],
];

for (const [when, terms] of ROWS) {
  test(`Of ${when} each term is told with what it read, or why it has no answer`, async () => {
    assert.deepEqual((await explainTerms(when, FACTS)).map(({ result, why }) => [result, why]), terms);
  });
}

test('Of more than 20 terms the first 20 are told', async () => {
  const when = Array.from({ length: 25 }, (_, i) => `event.name != "${i}"`).join(' && ');
  assert.equal((await explainTerms(when, FACTS)).length, 20);
});
