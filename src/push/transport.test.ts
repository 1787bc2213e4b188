import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { oneLine } from '../domain/one-line.ts';
import type { NotificationMessage } from '../domain/notify/row.ts';
import { systemClock } from '../lib/clock.ts';
import { readTransports, type TransportDeps } from './transport.ts';

const DEPS: TransportDeps = { clock: systemClock, sealKey: Buffer.alloc(32, 7) };

test('A target is named by its kind and its host, without path, port and credentials', () => {
  const urls = [
    'ntfy+https://:tk_secret@ntfy.example.com:8443/ops',
    'ntfy+http://[fd00::1]/ops',
    'https://hooks.example.com/T0/secret?key=secret',
    'smtps://me:secret@mail.example.com?to=ops@example.com',
  ];
  const labels = readTransports(urls, DEPS).map(({ label }) => label);
  assert.deepEqual(labels, [
    'ntfy at ntfy.example.com',
    'ntfy at [fd00::1]',
    'webhook at hooks.example.com',
    'mail at mail.example.com',
  ]);
});

test('The user and password of a webhook or an ntfy target are sent as a header, and not in the address', async (t) => {
  const requests: (readonly [path: string | undefined, authorization: string | undefined])[] = [];
  const server = createServer((request, response) => {
    requests.push([request.url, request.headers.authorization]);
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const message: NotificationMessage = {
    id: 'page_1',
    title: oneLine('T'),
    message: oneLine('M'),
    priority: 3,
    tags: [],
    click: '',
    actions: [],
  };
  for (const url of [
    `http://me:a%3Ab@127.0.0.1:${port}/pages?key=1`,
    `http://127.0.0.1:${port}/pages`,
    `ntfy+http://:tk_1@127.0.0.1:${port}/ops`,
  ]) {
    for (const { send } of readTransports([url], DEPS)) await send(message);
  }
  assert.deepEqual(requests, [
    ['/pages?key=1', `Basic ${Buffer.from('me:a:b').toString('base64')}`],
    ['/pages', undefined],
    ['/', 'Bearer tk_1'],
  ]);
});
