/** The listener under connections that are slow, malformed, too many, or have nowhere to go. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createIngressFace } from '../../../src/faces/ingress/face.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';
import { startProgram } from '../../support/program.ts';
import { exchange, open, request, split, untilClosed } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';
import { needs } from '../../support/tools.ts';

test('T50: What two readers of HTTP could understand differently is 400 and the end of the connection', async (t) => {
  const program = await startProgram(t);
  const auth = `Host: x\r\nAuthorization: Bearer ${program.tokens.operator}\r\n`;
  const smuggled = `GET /api/v1/whoami HTTP/1.1\r\n${auth}\r\n`;
  const corpus = [
    `POST /login HTTP/1.1\r\n${auth}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Content-Length: +4\r\n\r\nabcd${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Content-Length : 4\r\n\r\nabcd${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST /login HTTP/1.1\r\n${auth}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `GET /api/v1/whoami HTTP/1.1\r\n${auth}X: a\r\n folded: b\r\n\r\n`,
    `GET /api/v1/whoami HTTP/1.1\n${auth.replaceAll('\r\n', '\n')}\n`,
    `GET /api/v1/whoami HTTP/1.1\r\n${auth}X: a\0b\r\n\r\n`,
    `GET /api/v1/whoami HTTP/1.1\r\n${auth}Bad Name: x\r\n\r\n`,
    `GET /api/v1/whoami HTTP/1.1\r\n${auth}${'A: b\r\n'.repeat(10_000)}\r\n`,
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${auth}\r\n`,
  ];
  for (const text of corpus) {
    const answer = await exchange(program.port, Buffer.from(text, 'latin1'));
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]);
    assert.equal(statuses.at(-1), '400', text.slice(0, 200));
    assert.doesNotMatch(answer, /"kind":"whoami"/);
  }
});

test('T50: Connections with slow headers, a slow body or no data are closed, and hold up no other', async (t) => {
  const program = await startProgram(t, { limits: { headersMs: 400, requestMs: 800, checkMs: 50 } });
  await send(program, 'readonly', { method: 'GET', path: '/api/v1/whoami' });
  const silent = await Promise.all(Array.from({ length: 100 }, () => open(program.port)));
  const slowHead = await Promise.all(Array.from({ length: 100 }, () => open(program.port)));
  for (const socket of slowHead) socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-');
  const slowBody = await Promise.all(Array.from({ length: 20 }, () => open(program.port)));
  const head =
    'POST /api/v1/commands/run HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ' +
    `${program.tokens.operator}\r\nContent-Length: 50\r\n\r\n{`;
  for (const socket of slowBody) socket.write(head);
  const drip = setInterval(() => slowHead.forEach((socket) => socket.writable && socket.write('a')), 50);
  const closed = Promise.all([...silent, ...slowHead, ...slowBody].map(untilClosed));
  const others: { readonly tookMs: number; readonly workedMs: number }[] = [];
  const slow = { gone: false };
  void closed.then(() => (slow.gone = true));
  while (!slow.gone) {
    const [at, worked] = [performance.now(), threadCpuMs()];
    assert.equal((await send(program, 'readonly', { method: 'GET', path: '/api/v1/whoami' })).status, 200);
    others.push({ tookMs: performance.now() - at, workedMs: threadCpuMs() - worked });
  }
  clearInterval(drip);
  await closed;
  // The slow ones, the others and the listener share this thread, so that its work is all that an answer waits for.
  const worked = others.map(({ workedMs }) => workedMs).toSorted((a, b) => a - b);
  const p95 = worked[Math.floor(worked.length * 0.95)] ?? Infinity;
  assert.ok(p95 < 300, `the 95th percentile of others was ${p95.toFixed(0)} ms of work`);
  // A wait behind the slow ones would be there each time; that for a processor of a busy machine is not.
  const quickest = Math.min(...others.map(({ tookMs }) => tookMs));
  assert.ok(quickest < 300, `the quickest of ${others.length} others took ${quickest.toFixed(0)} ms`);
});

test('T50: Connections above the limit are refused, until others end', async (t) => {
  const program = await startProgram(t, { limits: { connections: 10 } });
  const held = await Promise.all(Array.from({ length: 10 }, () => open(program.port)));
  const extra = connect(program.port, '127.0.0.1');
  extra.on('error', () => undefined);
  assert.equal(await untilClosed(extra), '');
  for (const socket of held) socket.destroy();
  for (;;) {
    const text = await exchange(program.port, request('GET', '/api/v1/whoami')).catch(() => '');
    if (split(text).status === 401) break;
  }
});

test('F33: A port in use is refused with its code, and leaves nothing that holds the process', async (t) => {
  const program = await startProgram(t);
  const second = await startProgram(t);
  await second.face.close(0);
  const ingress = createIngressFace({ runtime: program, log: { error: () => undefined } });
  await assert.rejects(ingress.listen({ host: '127.0.0.1', port: program.port }), { code: 'EADDRINUSE' });
  await assert.rejects(ingress.listen({ host: '203.0.113.1', port: 0 }), { code: 'EADDRNOTAVAIL' });
  await ingress.close(0);
});

test(
  'F33: A process that runs out of files keeps listening, and answers when files are free again',
  { skip: needs('prlimit') },
  async () => {
    const program = fileURLToPath(new URL('../../support/faults/few-files.ts', import.meta.url));
    const child = spawn(
      'prlimit',
      ['--nofile=64', process.execPath, '--disable-warning=ExperimentalWarning', program],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const { port, token } = JSON.parse(line) as { port: number; token: string };
      const whoami = request('GET', '/api/v1/whoami', { Authorization: `Bearer ${token}` });
      assert.equal(split(await exchange(port, whoami)).status, 200);
      const sockets = await Promise.all(Array.from({ length: 200 }, () => open(port)));
      for (const socket of sockets) socket.destroy();
      let status = 0;
      const deadline = performance.now() + 30_000;
      while (status !== 200 && performance.now() < deadline)
        status = split(await exchange(port, whoami).catch(() => '')).status;
      assert.equal(status, 200);
      assert.equal(child.exitCode, null);
    } finally {
      child.kill('SIGKILL');
    }
  },
);

test('The ingress listener answers an unknown path with an envelope of 404, under the same limits', async (t) => {
  const program = await startProgram(t);
  const ingress = createIngressFace({
    runtime: program,
    log: { error: () => undefined },
    limits: { headersMs: 200, checkMs: 50 },
  });
  t.after(() => ingress.close(0));
  const { port, url } = await ingress.listen({ host: '127.0.0.1', port: 0 });
  assert.equal(url, `http://127.0.0.1:${port}`);
  for (const text of [
    request('GET', '/'),
    request('POST', '/hook/x', { 'Content-Length': '2' }, '{}'),
    request('GET', '/api/v1/jobs'),
  ]) {
    const { status, body } = split(await exchange(port, text));
    assert.equal(status, 404);
    assert.match(body, /^\{"schema_version":1,"kind":"error","error":\{"code":"not_found"/);
  }
  assert.match(await untilClosed(await open(port)), /^HTTP\/1\.1 400 /);
});
