import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFacts } from '../events/event.ts';
import { explainTerms } from './explain.ts';

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

/** Each term with its result and its why. */
const ROWS: readonly (readonly [when: string, terms: readonly (readonly [result: string, why: string | null])[]])[] = [
  [
    'event.source == "alertmanager" && event.name == "Other"',
    [
      ['true', null],
      ['false', 'event.name is "DiskFull"'],
    ],
  ],
  [
    'event.severity == "page" && event.labels.mount == "/"',
    [
      ['false', 'event.severity is ""'],
      ['false', 'event.labels.mount is (not set)'],
    ],
  ],
  [
    '(event.name == "A" || event.labels["disk-kind"] == "sata")',
    [['false', 'event.name is "DiskFull", event.labels["disk-kind"] is "nvme"']],
  ],
  ['!event.labels.instance.startsWith("web")', [['false', 'event.labels.instance is "web1:9100"']]],
  ['has(event.labels.mount)', [['false', null]]],
  [
    'event.labels["disk kind"] == event.annotations.kind && event.name == "DiskFull"',
    [
      ['true', null],
      ['true', null],
    ],
  ],
  [
    'event.annotations.team == event.labels.instance',
    [['false', 'event.annotations.team is (not set), event.labels.instance is "web1:9100"']],
  ],
  ['int(event.labels.mount) == 1', [['error', 'character 1: event.labels.mount cannot be converted to an integer']]],
  ['event.labels.exists(l, l == event.name)', [['false', 'event.name is "DiskFull"']]],
  ['["a", event.labels.instance].exists(x, x == "b")', [['false', 'event.labels.instance is "web1:9100"']]],
  ['event.labels.note == event.labels.note + "y"', [['false', `event.labels.note is "${'x'.repeat(100)}…"`]]],
];

for (const [when, terms] of ROWS) {
  test(`Of ${when} each term is listed with the values it read, or with its error`, async () => {
    assert.deepEqual(
      (await explainTerms(when, FACTS)).map(({ result, why }) => [result, why]),
      terms,
    );
  });
}

/** 30 terms, of which `some` are others than true, by their index. */
function joined(some: Readonly<Record<number, string>>): string {
  return Array.from({ length: 30 }, (_, i) => some[i] ?? `event.name != "${i}"`).join(' && ');
}

/** The terms listed after the first 20. */
async function listedAfter(some: Readonly<Record<number, string>>): Promise<string[]> {
  return (await explainTerms(joined(some), FACTS)).slice(20).map(({ term, result }) => `${result} ${term}`);
}

describe('Of more than 20 terms', () => {
  test('the first 20 are listed', async () => {
    assert.equal((await explainTerms(joined({}), FACTS)).length, 20);
    assert.deepEqual(await listedAfter({ 3: 'event.name == "x"', 25: 'event.name == "y"' }), []);
  });

  test('the first false one is listed too, else the first with an error', async () => {
    assert.deepEqual(await listedAfter({ 25: 'event.name == "x"', 27: 'event.name == "y"' }), [
      'false event.name == "x"',
    ]);
    assert.deepEqual(await listedAfter({ 22: 'int(event.name) == 1', 25: 'event.name == "x"' }), [
      'false event.name == "x"',
    ]);
    assert.deepEqual(await listedAfter({ 22: 'int(event.name) == 1', 24: 'int(event.name) == 2' }), [
      'error int(event.name) == 1',
    ]);
  });
});

test('A refused term is listed with the reason, beside the others', async () => {
  const terms = await explainTerms(
    'event.name == "DiskFull" && event.received_at > duration("5m") && event.name == "x"',
    FACTS,
  );
  assert.deepEqual(
    terms.map(({ result, why }) => [result, why]),
    [
      ['true', null],
      ['error', 'character 19: a time is compared with a duration, which is never true'],
      ['false', 'event.name is "DiskFull"'],
    ],
  );
});
