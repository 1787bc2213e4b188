import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { NOT_CONNECTED, send } from './send.ts';

const LONG_MS = 60_000;
const SHORT_MS = 100;
const GET = { method: 'GET', headers: {} };

/** The port of a server that accepts, answers what it gets with `answer`, and then says nothing more. */
async function silentServer(context: TestContext, answer = ''): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => void (answer !== '' && socket.write(answer)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

test('a server that accepts and never answers: the limit of silence ends the call', async (context) => {
  const port = await silentServer(context);
  const limits = { connect: LONG_MS, silence: SHORT_MS };
  await assert.rejects(send(`http://127.0.0.1:${port}/`, GET, limits), { message: 'no answer within 100ms' });
});

test('a server that accepts and never begins TLS: the limit of the connection ends the call', async (context) => {
  const port = await silentServer(context);
  const limits = { connect: SHORT_MS, silence: LONG_MS };
  await assert.rejects(send(`https://127.0.0.1:${port}/`, GET, limits), { message: NOT_CONNECTED });
});

test('an answer that stops in its body: the limit of silence ends its reading', async (context) => {
  const port = await silentServer(context, 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
  const answer = await send(`http://127.0.0.1:${port}/`, GET, { connect: LONG_MS, silence: SHORT_MS });
  const read: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of answer) read.push(String(chunk));
  });
  assert.equal(read.join(''), 'half');
});
