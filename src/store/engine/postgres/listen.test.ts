import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../../lib/clock.ts';
import { Dialer } from './dial.ts';
import { listen } from './listen.ts';

/** Far more than a stop needs, and less than a test may hang. */
const STOP_LIMIT_MS = 30_000;

test('Listening stops while its connection is still being made', { timeout: STOP_LIMIT_MS }, async (t) => {
  // It takes connections and never answers, as a busy server does for a while.
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection');
  const listening = listen({
    dialer: new Dialer(`postgres://gatehouse:x@127.0.0.1:${port}/gatehouse`, STOP_LIMIT_MS),
    channel: 'gatehouse',
    self: 'this process',
    clock: systemClock,
    changed: () => assert.fail('nothing has changed'),
  });
  await connected;
  await listening.stop();
});
