import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { HandClock } from '../../test/support/clock.ts';
import { heldMib } from '../../test/support/measure/held-memory.ts';
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

/** Buffers are freed some turns after the collection that found them unused. */
async function leastHeld(): Promise<number> {
  let least = heldMib();
  for (let turn = 0; turn < 20; turn += 1) {
    await pause(10);
    least = Math.min(least, heldMib());
  }
  return least;
}

test('T39: a body without an end and a head without an end are down at once, and leave no memory behind', async (t) => {
  // The buffers of the target are in this process too: what it holds is measured once its connections have closed.
  const closed: Promise<void>[] = [];
  const noteEnd = (socket: Socket): void =>
    void closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
  const endless = await listen(t, (socket) => {
    noteEnd(socket);
    socket.resume().write('HTTP/1.1 200 OK\r\n\r\n');
    const more = (): boolean => socket.destroyed || (socket.write(Buffer.alloc(16_384, 'x')) && more());
    socket.on('drain', more);
    more();
  });
  const headers = await listen(t, (socket) => {
    noteEnd(socket);
    socket.resume().write('HTTP/1.1 200 OK\r\n');
    const more = (): boolean => socket.destroyed || (socket.write(`a: ${'x'.repeat(4_096)}\r\n`) && more());
    socket.on('drain', more);
    more();
  });
  const [body, head] = [`http://127.0.0.1:${endless.port}/`, `http://127.0.0.1:${headers.port}/`];
  assert.equal((await probeOnce(deps, 'http', body)).detail, 'ok');
  const heldAfter = async (rounds: number): Promise<number> => {
    for (let round = 0; round < rounds; round += 1) {
      assert.equal((await probeOnce(deps, 'http', body, { expectBody: 'y' })).detail, 'too_large');
      assert.equal((await probeOnce(deps, 'metric', body)).detail, 'too_large');
      assert.equal((await probeOnce(deps, 'http', head)).detail, 'too_large');
    }
    await Promise.all(closed.splice(0));
    return leastHeld();
  };
  const before = await heldAfter(2);
  const more = (await heldAfter(20)) - before;
  assert.ok(more < 2, `${more} MiB`);
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
    assert.equal((await probeOnce(deps, kind, `http://127.0.0.1:${ssh.port}/`)).detail, 'status_unexpected');
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
