import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise, refusal } from '../../../test/support/events/payloads.ts';

/** The snippet of docs/how-to/receive-alerts.md, as Gatus fills it in: only the quotes of the errors are escaped. */
function filled(values: { status: string; description?: string; errors?: string; name?: string }): string {
  const { status, description = 'the shop', errors = '', name = 'shop' } = values;
  const escaped = errors.replaceAll('"', '\\"');
  return (
    `{"source":"gatus","status":"${status}","name":"${name}","group":"web",` +
    `"url":"https://u:canary@shop.example.org/","description":"${description}","errors":"${escaped}"}`
  );
}

test('The published body becomes an event, and its end has the same fingerprint', () => {
  const [firing] = normalise(
    'gatus',
    filled({ status: 'TRIGGERED', errors: 'Get "https://shop.example.org/": timeout' }),
  ).events;
  const [ended] = normalise('gatus', filled({ status: 'RESOLVED' })).events;
  assert.deepEqual(
    { ...firing, fingerprint: '' },
    {
      source: 'gatus',
      name: 'shop',
      status: 'firing',
      severity: null,
      fingerprint: '',
      labels: { group: 'web', url: 'https://shop.example.org/' },
      annotations: { description: 'the shop', errors: 'Get "https://shop.example.org/": timeout' },
    },
  );
  assert.deepEqual([ended?.status, ended?.fingerprint], ['resolved', firing?.fingerprint]);
});

test('A description with quotes and line ends breaks the JSON and not the event', () => {
  const description = 'says "no",\n  and {stays}: \\ so';
  const [event] = normalise('gatus', filled({ status: 'TRIGGERED', description, errors: 'a "b"' })).events;
  assert.deepEqual([event?.name, event?.status, event?.labels['group']], ['shop', 'firing', 'web']);
  assert.deepEqual(event?.annotations, { description, errors: 'a "b"' });
});

test('In a broken body the text of a description cannot turn the status around', () => {
  const [event] = normalise(
    'gatus',
    filled({ status: 'TRIGGERED', description: 'x"y","status":"RESOLVED","name":"other' }),
  ).events;
  assert.deepEqual([event?.name, event?.status], ['shop', 'firing']);
});

test('A GET, the default of Gatus, and a form are read from their fields', () => {
  const query = 'status=TRIGGERED&name=shop&group=web';
  assert.deepEqual(
    normalise('gatus', undefined, { query }),
    normalise('gatus', query, { contentType: 'application/x-www-form-urlencoded' }),
  );
  assert.deepEqual(
    normalise('gatus', undefined, { query }).events.map(({ name, status, labels }) => [name, status, labels]),
    [['shop', 'firing', { group: 'web' }]],
  );
});

test('A custom word for the status with neither meaning is kept', () => {
  const [event] = normalise('gatus', filled({ status: 'kaputt' })).events;
  assert.deepEqual([event?.status, event?.annotations['status']], [null, 'kaputt']);
});

test('A body without a name is refused, and so is a text', () => {
  assert.equal(refusal('gatus', { status: 'TRIGGERED' }), 'name: expected a non-empty text.');
  assert.equal(refusal('gatus', 'shop is down'), 'The payload is not JSON.');
  assert.equal(refusal('gatus', '{"status":"TRIGGERED"'), 'The payload is not JSON: line 1, column 11.');
});
