import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../test/support/clock.ts';
import { listen, listenHttp } from '../../test/support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../test/support/network/probing.ts';
import { Failure } from '../domain/failure.ts';
import { Limiter } from '../lib/flow/limiter.ts';
import { findingOf } from './finding.ts';
import { PROBE_MS } from './probe.ts';

const deps = loopbackProbes();

test('A tcp target is up when it accepts a connection, which is closed after', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { port } = await listen(t, (socket) => socket.resume().once('close', closed.resolve));
  const result = await probeOnce(deps, 'tcp', `127.0.0.1:${port}`);
  assert.deepEqual({ ...result, durationMs: 0 }, { up: true, detail: 'ok', durationMs: 0, certificateDays: null });
  await closed.promise;
});

test('A tcp target is down when it refuses', async (t) => {
  const listener = await listen(t);
  await listener.close();
  assert.equal((await probeOnce(deps, 'tcp', `127.0.0.1:${listener.port}`)).detail, 'refused');
});

test('The time of a probe ends it with its connection, whatever the target does', async (t) => {
  for (const kind of ['http', 'metric'] as const) {
    const clock = new HandClock();
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { port } = await listen(t, (socket) => {
      socket.resume().once('close', closed.resolve);
      accepted.resolve();
    });
    const probing = probeOnce(loopbackProbes({ clock }), kind, `http://127.0.0.1:${port}/`);
    await accepted.promise;
    clock.advance(PROBE_MS);
    assert.deepEqual(await probing, { up: false, detail: 'timeout', durationMs: PROBE_MS, certificateDays: null });
    await closed.promise;
    assert.equal(clock.waiting, 0);
  }
});

test('An abort ends a probe with the reason of the caller', async (t) => {
  const ending = new AbortController();
  const { port } = await listen(t, () => ending.abort(new Error('stopped')));
  await assert.rejects(probeOnce(deps, 'http', `http://127.0.0.1:${port}/`, {}, ending.signal), { message: 'stopped' });
  await assert.rejects(probeOnce(deps, 'tcp', `127.0.0.1:${port}`, {}, ending.signal), { message: 'stopped' });
  assert.equal(deps.running.running, 0);
});

test('Probes beyond the limit wait for their turn, and their time begins after it', async (t) => {
  let [open, most] = [0, 0];
  const { port } = await listenHttp(t, (_request, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 5);
  });
  const single = { ...deps, running: new Limiter({ running: 1, waiting: Number.POSITIVE_INFINITY }) };
  const target = `http://127.0.0.1:${port}/`;
  const results = await Promise.all(
    Array.from({ length: 5 }, () => probeOnce(single, 'http', target, { expectBody: 'none' })),
  );
  assert.deepEqual([results.map(({ detail }) => detail), most], [Array(5).fill('body_unexpected'), 1]);
  const ending = new AbortController();
  const first = probeOnce(single, 'http', target);
  const waiting = probeOnce(single, 'http', target, {}, ending.signal);
  ending.abort(new Error('stopped'));
  await assert.rejects(waiting, { message: 'stopped' });
  assert.ok((await first).up);
});

test('T39: what a target sends is in no word of the result', async (t) => {
  const { port } = await listenHttp(t, (_request, response) =>
    response.writeHead(500, 'canarycanary', { 'x-canarycanary': 'canarycanary' }).end('canarycanary'),
  );
  for (const kind of ['http', 'metric'] as const) {
    const result = await probeOnce(deps, kind, `http://user:canarycanary@127.0.0.1:${port}/canarycanary`);
    assert.equal(result.detail, 'status_unexpected');
    assert.doesNotMatch(JSON.stringify(result), /canary/);
  }
});

test('A target that speaks something else, or closes the connection, is down with a word for it', async (t) => {
  const ssh = await listen(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const shut = await listen(t, (socket) => socket.destroy());
  for (const kind of ['http', 'metric'] as const) {
    assert.equal((await probeOnce(deps, kind, `http://127.0.0.1:${ssh.port}/`)).detail, 'not_http');
    assert.equal((await probeOnce(deps, kind, `http://127.0.0.1:${shut.port}/`)).detail, 'refused');
    assert.equal((await probeOnce(deps, kind, `https://127.0.0.1:${ssh.port}/`)).detail, 'tls_failed');
  }
  assert.equal((await probeOnce(deps, 'tls', `127.0.0.1:${ssh.port}`)).detail, 'tls_failed');
  assert.equal((await probeOnce(deps, 'tls', `127.0.0.1:${shut.port}`)).detail, 'tls_failed');
});

function failed(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: 'connect' });
}

test('Errors of the network have their words, and what this machine lacks says nothing about a target', () => {
  const words = {
    EHOSTUNREACH: 'unreachable',
    ENETUNREACH: 'unreachable',
    EACCES: 'unreachable',
    ETIMEDOUT: 'timeout',
  };
  for (const [code, detail] of Object.entries(words)) assert.deepEqual(findingOf(failed(code)), { detail });
  for (const code of ['EMFILE', 'ENOBUFS'])
    assert.throws(
      () => findingOf(failed(code)),
      (error) => error instanceof Failure && error.code === 'unavailable' && error.message.includes(code),
    );
  assert.throws(() => findingOf(new TypeError('x is not a function')), TypeError);
});
