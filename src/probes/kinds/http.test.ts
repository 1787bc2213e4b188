import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { HandClock } from '../../../test/support/clock.ts';
import { listen, listenHttp } from '../../../test/support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../../test/support/network/probing.ts';
import type { CheckOptions } from '../../domain/checks/check.ts';
import { PROBE_MS } from '../probe.ts';

const deps = loopbackProbes();

test('A status is the expected one, and 0 expects 2xx and 3xx', async (t) => {
  const { port } = await listenHttp(t, (request, response) => response.writeHead(Number(request.url?.slice(1))).end());
  const detail = async (status: number, expect: number): Promise<string> =>
    (await probeOnce(deps, 'http', `http://127.0.0.1:${port}/${status}`, { expect })).detail;
  const rows = [
    [200, 0, 'ok'],
    [204, 0, 'ok'],
    [399, 0, 'ok'],
    [400, 0, 'status_unexpected'],
    [503, 0, 'status_unexpected'],
    [200, 200, 'ok'],
    [201, 200, 'status_unexpected'],
    [404, 404, 'ok'],
  ] as const;
  for (const [status, expect, found] of rows)
    assert.deepEqual([status, expect, await detail(status, expect)], [status, expect, found]);
});

test('T38: a redirect is an answer, and nothing but the first connection is opened', async (t) => {
  const inner = await listen(t);
  const { port } = await listenHttp(t, (request, response) =>
    response
      .writeHead(Number(request.url?.slice(1)), { location: `http://127.0.0.1:${inner.port}/latest/meta-data` })
      .end('moved'),
  );
  for (const status of [301, 302, 303, 307, 308]) {
    const options: Partial<CheckOptions['http']> = { expect: 0, expectBody: 'moved' };
    assert.equal((await probeOnce(deps, 'http', `http://127.0.0.1:${port}/${status}`, options)).detail, 'ok');
    const metric = await probeOnce(deps, 'metric', `http://127.0.0.1:${port}/${status}`);
    assert.equal(metric.detail, 'status_unexpected');
  }
  assert.equal(inner.connections, 0);
});

test('A request has the method, the path and the credentials of the URL', async (t) => {
  const seen: unknown[] = [];
  const { port } = await listenHttp(t, ({ method, url, headers }, response) => {
    seen.push([method, url, headers.authorization, headers.host, headers.connection]);
    response.end();
  });
  const host = `127.0.0.1:${port}`;
  await probeOnce(deps, 'http', `http://user:p%40ss@${host}/a%20b?c=1#d`, { method: 'HEAD' });
  await probeOnce(deps, 'http', `http://${host}`);
  await probeOnce(deps, 'http', `http://:50%@${host}/`);
  await probeOnce(deps, 'http', `http://:h%C3%A9%0Ax@${host}/`);
  const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  assert.deepEqual(seen, [
    ['HEAD', '/a%20b?c=1', basic, host, 'close'],
    ['GET', '/', undefined, host, 'close'],
    ['GET', '/', 'Bearer 50%', host, 'close'],
    // UTF-8 as the bytes of a header; what no header may have stays escaped.
    ['GET', '/', `Bearer ${Buffer.from('hé%0Ax').toString('latin1')}`, host, 'close'],
  ]);
});

test('The expected text is found across the parts of a body, also in one that does not end', async (t) => {
  const { port } = await listenHttp(t, (request, response) => {
    response.write('some te');
    setImmediate(() => response.write('xt hére'));
    if (request.url === '/ends') setTimeout(() => response.end(), 20);
  });
  const detail = async (path: string, expectBody: string): Promise<string> =>
    (await probeOnce(deps, 'http', `http://127.0.0.1:${port}/${path}`, { expectBody })).detail;
  assert.equal(await detail('endless', 'text hé'), 'ok');
  assert.equal(await detail('ends', 'some text hére'), 'ok');
  assert.equal(await detail('ends', 'other'), 'body_unexpected');
});

test('A body is searched up to 64 KiB', async (t) => {
  const { port } = await listenHttp(t, (request, response) =>
    response.end(`${'x'.repeat(Number(request.url?.slice(1)))}end`),
  );
  const detail = async (before: number): Promise<string> =>
    (await probeOnce(deps, 'http', `http://127.0.0.1:${port}/${before}`, { expectBody: 'end' })).detail;
  assert.equal(await detail(65_533), 'ok');
  assert.equal(await detail(65_534), 'too_large');
});

const CODINGS = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  identity: (bytes: Buffer) => bytes,
} as const;

/** Serves one body with these headers. */
async function served(t: TestContext, body: Buffer, headers: Readonly<Record<string, string>>): Promise<string> {
  const { port } = await listenHttp(t, (_request, response) => response.writeHead(200, headers).end(body));
  return `http://127.0.0.1:${port}/`;
}

test('B5: a body is searched as its coding and charset say', async (t) => {
  const detail = async (body: Buffer, headers: Readonly<Record<string, string>>, text = 'héllo'): Promise<string> => {
    const target = await served(t, body, headers);
    const { detail: word } = await probeOnce(deps, 'http', target, { expectBody: text });
    return word;
  };
  const utf8 = Buffer.from('say héllo');
  for (const [coding, pack] of Object.entries(CODINGS)) {
    assert.deepEqual([coding, await detail(pack(utf8), { 'content-encoding': coding })], [coding, 'ok']);
    assert.equal(await detail(pack(utf8), { 'content-encoding': coding }, 'bye'), 'body_unexpected');
  }
  const gzipped = { 'content-encoding': 'gzip' };
  assert.equal(await detail(utf8, gzipped), 'body_unexpected');
  assert.equal(await detail(gzipSync(utf8).subarray(0, 15), gzipped), 'body_unexpected');
  for (const coding of ['unknown', 'constructor', '__proto__'])
    assert.equal(await detail(utf8, { 'content-encoding': coding }), 'body_unexpected', coding);
  assert.equal(await detail(gzipSync(gzipSync(utf8)), { 'content-encoding': 'gzip, gzip' }), 'body_unexpected');
  const latin1 = Buffer.from('say héllo', 'latin1');
  assert.equal(await detail(latin1, { 'content-type': 'text/html; charset=ISO-8859-1' }), 'ok');
  assert.equal(await detail(latin1, { 'content-type': 'text/html' }), 'body_unexpected');
  assert.equal(await detail(latin1, { 'content-type': 'text/html' }, 'say'), 'ok');
  assert.equal(await detail(Buffer.from('say héllo', 'utf16le'), { 'content-type': 'a/b;charset="utf-16"' }), 'ok');
  assert.equal(await detail(utf8, { 'content-type': 'text/html; charset=none' }), 'ok');
  const both = { 'content-encoding': 'gzip', 'content-type': 'text/html; charset=latin1' };
  assert.equal(await detail(gzipSync(latin1), both), 'ok');
});

test('B5: a body that unpacks to more than 64 KiB ends there', async (t) => {
  const bomb = Buffer.alloc(1_048_576);
  const late = Buffer.concat([Buffer.alloc(65_533, 'x'), Buffer.from('end')]);
  const tooLate = Buffer.concat([Buffer.alloc(65_534, 'x'), Buffer.from('end')]);
  for (const [coding, pack] of Object.entries(CODINGS)) {
    const headers = { 'content-encoding': coding };
    const detail = async (body: Buffer): Promise<string> =>
      (await probeOnce(deps, 'http', await served(t, pack(body), headers), { expectBody: 'end' })).detail;
    assert.deepEqual([coding, await detail(late), await detail(tooLate)], [coding, 'ok', 'too_large']);
    if (coding === 'identity') continue;
    assert.equal(await detail(bomb), 'too_large');
  }
});

test('T39: a body that comes a byte a second is down when the time of the probe is over', async (t) => {
  const clock = new HandClock();
  const accepted = Promise.withResolvers<void>();
  const { port } = await listenHttp(t, (_request, response) => {
    response.write('x');
    accepted.resolve();
  });
  const target = `http://127.0.0.1:${port}/`;
  const probing = probeOnce(loopbackProbes({ clock }), 'http', target, { expectBody: 'y' });
  await accepted.promise;
  clock.advance(PROBE_MS);
  assert.equal((await probing).detail, 'timeout');
});
