import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { readTransport } from './transport.ts';

test('A target is named by its kind and its host, without path, port and credentials', () => {
  const urls = ['ntfy+https://:tk_secret@ntfy.example.com:8443/ops', 'ntfy+http://[fd00::1]/ops', 'https://hooks.example.com/T0/secret?key=secret', 'smtps://me:secret@mail.example.com?to=ops@example.com'];
  const labels = urls.map((url, index) => readTransport(url, index + 1, { clock: systemClock }).label);
  assert.deepEqual(labels, ['ntfy at ntfy.example.com', 'ntfy at [fd00::1]', 'webhook at hooks.example.com', 'mail at mail.example.com']);
});
