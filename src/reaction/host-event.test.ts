import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostEvent } from './host-event.ts';

const SECRET = 'Bearer CANARY';

test('A credential in anything that a host sends is not kept, whatever field it is in', () => {
  const event = hostEvent('db1', {
    request: `clean ${SECRET}`,
    reason: SECRET,
    status: SECRET,
    metadata: { note: SECRET, token: 'CANARY', url: 'https://u:CANARY@h/' },
  });
  assert.doesNotMatch(JSON.stringify(event), /CANARY/);
  assert.deepEqual(
    [event.name, event.labels['request'], event.labels['status']],
    ['clean Bearer [removed]', 'clean Bearer [removed]', 'Bearer [removed]'],
  );
});

test('One host and one request have one fingerprint, with any metadata', () => {
  const one = hostEvent('db1', { request: 'clean', reason: null, status: 'firing', metadata: { disk: '/var' } });
  const other = hostEvent('db1', { request: 'clean', reason: 'r', status: 'resolved', metadata: {} });
  assert.equal(one.fingerprint, other.fingerprint);
  assert.notEqual(
    one.fingerprint,
    hostEvent('db2', { request: 'clean', reason: null, status: null, metadata: {} }).fingerprint,
  );
});
