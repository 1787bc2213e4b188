import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_LIMITS, WEBHOOK_SOURCES } from '../../domain/events/event.ts';
import { normalise, refusal } from '../../../test/support/events/payloads.ts';

const DISK = {
  name: 'DiskFull',
  status: 'firing',
  severity: 'warn',
  fingerprint: 'db1-disk',
  labels: { instance: 'db1', used: 97, mounted: true },
  annotations: { summary: 'full' },
};

function fingerprint(body: object): string | undefined {
  return normalise('generic', body).events[0]?.fingerprint;
}

function severity(word: unknown): string | null | undefined {
  return normalise('generic', { name: 'A', severity: word }).events[0]?.severity;
}

test('The fields of a generic payload are those of the event', () => {
  assert.deepEqual(normalise('generic', DISK).events, [
    {
      source: 'generic',
      name: 'DiskFull',
      status: 'firing',
      severity: 'warning',
      fingerprint: 'db1-disk',
      labels: { instance: 'db1', used: '97', mounted: 'true' },
      annotations: { summary: 'full' },
    },
  ]);
});

test('A list is one event for each of its objects', () => {
  const { events, problems } = normalise('generic', [DISK, { name: 'B' }, 7]);
  assert.deepEqual(
    events.map(({ name }) => name),
    ['DiskFull', 'B'],
  );
  assert.equal(problems.length, 1);
});

test('A query and a form are enough, and texts at the top level become annotations', () => {
  const query = 'name=backup&status=ok&message=done&name=other';
  const [event] = normalise('generic', undefined, { query }).events;
  assert.deepEqual([event?.name, event?.status, event?.annotations], ['backup', 'resolved', { message: 'done' }]);
  assert.deepEqual(normalise('generic', query, { contentType: 'application/x-www-form-urlencoded' }).events, [event]);
});

test(
  'Without a fingerprint it is made of name and labels: the same for the end as for the ' +
    'beginning, whatever the order',
  () => {
    const first = fingerprint({ name: 'A', status: 'firing', severity: 'warn', labels: { a: '1', b: '2' } });
    assert.match(first ?? '', /^[0-9a-f]{16}$/);
    assert.equal(fingerprint({ name: 'A', status: 'resolved', labels: { b: '2', a: '1' } }), first);
    assert.notEqual(fingerprint({ name: 'A', labels: { a: '1', b: '3' } }), first);
    assert.notEqual(fingerprint({ name: 'A', labels: { a: '1b', '': '2' } }), first);
    const long = 'x'.repeat(EVENT_LIMITS.nameCharacters);
    assert.notEqual(
      fingerprint({ name: 'A', fingerprint: `${long}1` }),
      fingerprint({ name: 'A', fingerprint: `${long}2` }),
    );
  },
);

test('Words for a severity become one, and other words stay', () => {
  assert.deepEqual(['critical', 'CRIT', ' page ', 'emergency'].map(severity), [
    'critical',
    'critical',
    'critical',
    'critical',
  ]);
  assert.deepEqual(['error', 'high'].map(severity), ['error', 'error']);
  assert.deepEqual(['warning', 'warn', 'medium'].map(severity), ['warning', 'warning', 'warning']);
  assert.deepEqual(['info', 'low', 'none'].map(severity), ['info', 'info', 'info']);
  assert.deepEqual(['P1', '', 7, null, undefined, 'constructor'].map(severity), [
    'p1',
    null,
    null,
    null,
    null,
    'constructor',
  ]);
});

test('A wrong payload is refused with the name of the field', () => {
  assert.equal(refusal('generic', {}), 'name: expected a non-empty text.');
  assert.equal(refusal('generic', { name: 7 }), 'name: expected a non-empty text.');
  assert.equal(refusal('generic', { name: 'A', labels: ['x'] }), 'labels: expected an object of texts.');
  assert.equal(refusal('generic', { name: 'A', annotations: 'x' }), 'annotations: expected an object of texts.');
  assert.equal(refusal('generic', 'disk is full'), 'The payload is not JSON.');
  assert.equal(refusal('generic', undefined), 'name: expected a non-empty text.');
});

test(
  'Every source refuses what it cannot read, and never breaks: depth, odd keys, NUL, half ' +
    'characters, bytes that are no text',
  () => {
    const deep = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const odd =
      '{"name":"a\\u0000b\\ud800","__proto__":{"polluted":1},' +
      '"labels":{"__proto__":"p","constructor":"c","x":{"y":1}},"fingerprint":[[]]}';
    const bodies = [
      deep,
      `{"heartbeat":{"monitorID":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      odd,
      '[]',
      'null',
      '\u0000',
      '{',
      '{"alerts":{}}',
      '{"alerts":[[[]]]}',
      '"x"',
    ];
    for (const source of WEBHOOK_SOURCES) {
      for (const body of bodies) {
        if (refusal(source, body) !== null) continue;
        const text = JSON.stringify(normalise(source, body));
        assert.ok(text.isWellFormed() && !text.includes('\\u0000') && !text.includes('\\ud8'), text);
      }
    }
    assert.equal('polluted' in {}, false);
    const [event] = normalise('generic', odd).events;
    assert.equal(event?.name, 'a\ufffdb\ufffd');
    assert.deepEqual(Object.entries(event?.labels ?? {}), [
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
  },
);
