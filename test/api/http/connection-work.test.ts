/** What one read from a connection may make the listeners do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HTTP_LIMITS } from '../../../src/faces/http/limits.ts';
import { openHookFixture } from '../../support/fixtures/hooks.ts';
import { exchange, open, request, split, untilClosed, untilHas } from '../../support/raw-http.ts';

const BODY_BYTES = 1_048_576;

/** As one JSON object with a text that fills it. */
function jsonOf(bytes: number): string {
  const [before, after] = ['{"name":"x","annotations":{"text":"', '"}}'];
  return `${before}${'y'.repeat(bytes - before.length - after.length)}${after}`;
}

function chunked(body: string, chunkBytes: number): string {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.slice(at, at + chunkBytes);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${chunks.join('')}0\r\n\r\n`;
}

test('T64: a body in chunks of one byte closes the connection, for all paths of both listeners', async (t) => {
  const fixture = await openHookFixture(t);
  const hook = new URL(await fixture.hook('generic')).pathname;
  const body = chunked(jsonOf(BODY_BYTES / 4), 1);
  const ask = async (port: number, path: string): Promise<string> => {
    const socket = await open(port);
    const answer = untilClosed(socket);
    socket.write(request('POST', path, { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' }));
    socket.write(body);
    return answer;
  };
  assert.equal(await ask(fixture.port, hook), '');
  assert.deepEqual(await fixture.events(), []);
  // An answer that needs no body may come before the end of the connection.
  for (const path of [`/hook/${'A'.repeat(43)}`, '/nothing'])
    assert.doesNotMatch(await ask(fixture.port, path), /^HTTP\/1\.1 2/);
  for (const path of ['/login', '/api/v1/commands/run', '/nothing'])
    assert.doesNotMatch(await ask(fixture.program.port, path), /^HTTP\/1\.1 2/);
});

test('A body in chunks as programs send them is read, and so are a few short ones', async (t) => {
  const fixture = await openHookFixture(t);
  const hook = new URL(await fixture.hook('generic')).pathname;
  for (const [bytes, chunkBytes] of [
    [BODY_BYTES, 4_096],
    [BODY_BYTES, HTTP_LIMITS.chunkBytes],
    [HTTP_LIMITS.shortChunks, 1],
  ] as const) {
    const answer = await exchange(
      fixture.port,
      request('POST', hook, { 'Transfer-Encoding': 'chunked' }, chunked(jsonOf(bytes), chunkBytes)),
    );
    assert.equal(split(answer).status, 202, `chunks of ${chunkBytes} bytes`);
  }
});

test('A body that comes byte by byte is read', async (t) => {
  const fixture = await openHookFixture(t);
  const hook = new URL(await fixture.hook('generic')).pathname;
  const body = jsonOf(600);
  const socket = await open(fixture.port);
  socket.setNoDelay(true);
  const answer = untilClosed(socket);
  socket.write(request('POST', hook, { 'Content-Length': String(body.length) }));
  for (const byte of body) {
    socket.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(split(await answer).status, 202);
  assert.equal((await fixture.events())[0]?.annotations['text'], 'y'.repeat(600 - 38));
});

test('T64: too many pipelined requests close their connection; sequential requests have no limit', async (t) => {
  const fixture = await openHookFixture(t);
  const ask = 'GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const port of [fixture.port, fixture.program.port]) {
    const flood = await open(port);
    const answers = untilClosed(flood);
    flood.write(ask.repeat(2_000));
    const { length } = (await answers).matchAll(/HTTP\/1\.1 \d{3}/g).toArray();
    assert.ok(length <= HTTP_LIMITS.pipelined, `${length} answers`);
    const patient = await open(port);
    patient.setMaxListeners(0);
    for (let n = 0; n < 2 * HTTP_LIMITS.pipelined; n += 1) {
      const answered = untilHas(patient, '}}\n');
      patient.write(ask);
      await answered;
    }
    patient.destroy();
  }
});
