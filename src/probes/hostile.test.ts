/** Servers that break the rules of TLS and HTTP: a probe of each is down, with a word for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen } from '../../test/support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../test/support/network/probing.ts';
import { listenFaulty, TLS_VERSIONS } from '../../test/support/network/tls-peer.ts';
import { createAuthority } from '../../test/support/notify/push-authority.ts';
import { needs } from '../../test/support/tools.ts';

/** All alerts that TLS 1.2 and 1.3 have, and one that neither has. */
const ALERTS = [
  0, 10, 20, 21, 22, 30, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 60, 70, 71, 80, 86, 90, 100, 109, 110, 111,
  112, 113, 114, 115, 116, 120, 121, 255,
];
/** For Node the connection ends without an error then: OpenSSL has no name for 121, and 90 is a notice in TLS 1.3. */
const CLOSES = { 'TLSv1.2': [0, 121, 255], 'TLSv1.3': [0, 90, 121, 255] };

test(
  'B4: every alert of TLS 1.2 and 1.3, before and after the handshake, is down',
  { skip: needs('openssl') },
  async (t) => {
    const authority = createAuthority(t);
    const certificate = authority.certificate(['127.0.0.1']);
    const deps = loopbackProbes({ ca: [authority.ca.toString()] });
    for (const version of TLS_VERSIONS)
      for (const alert of ALERTS) {
        const of = async (when: 'hello' | 'open'): Promise<string> => {
          const server = await listenFaulty(t, certificate, { version, when, sends: [2, alert] });
          const { detail } = await probeOnce(deps, 'http', `https://127.0.0.1:${server.port}/`);
          await server.close();
          return detail;
        };
        const open = CLOSES[version].includes(alert) ? 'refused' : 'tls_failed';
        const found = [version, alert, await of('hello'), await of('open')];
        assert.deepEqual(found, [version, alert, 'tls_failed', open]);
      }
  },
);

test('B4: bytes that are no TLS record after the handshake are down', { skip: needs('openssl') }, async (t) => {
  const authority = createAuthority(t);
  const certificate = authority.certificate(['127.0.0.1']);
  const deps = loopbackProbes({ ca: [authority.ca.toString()] });
  const texts = ['HTTP/1.1 400 Bad Request\r\n\r\n', '\u0017\u0003\u0003\u0000\u0002xx', '\0'.repeat(20)];
  for (const version of TLS_VERSIONS)
    for (const text of texts) {
      const { port } = await listenFaulty(t, certificate, { version, when: 'open', sends: Buffer.from(text) });
      const result = await probeOnce(deps, 'http', `https://127.0.0.1:${port}/`);
      assert.deepEqual([version, text, result.detail], [version, text, 'tls_failed']);
      assert.equal(result.certificateDays, 0);
    }
});

const NOT_HTTP = [
  'HTTP/1.1 200 OK\n\nok',
  'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nok',
  'HTTP/1.1 200 OK\r\n: b\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok',
  'HTTP/2 200\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
  'HTTP/1.1 99 Odd\r\n\r\n',
  '<html>',
  '\0\0\0',
];

test('B4: an answer that is not HTTP has its word', async (t) => {
  const deps = loopbackProbes();
  for (const text of NOT_HTTP) {
    const { port } = await listen(t, (socket) => socket.once('data', () => socket.end(text)));
    for (const kind of ['http', 'metric'] as const) {
      const { detail } = await probeOnce(deps, kind, `http://127.0.0.1:${port}/`);
      assert.deepEqual([text, detail], [text, 'not_http']);
    }
  }
  const { port } = await listen(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok')),
  );
  const { detail } = await probeOnce(deps, 'http', `http://127.0.0.1:${port}/`, { expectBody: 'ok' });
  assert.equal(detail, 'not_http');
});

test('B4: a connection that ends at any byte of the head or of the body is down', async (t) => {
  const deps = loopbackProbes();
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody';
  for (const ends of ['destroy', 'resetAndDestroy'] as const)
    for (let at = 0; at < answer.length; at += 1) {
      const server = await listen(t, (socket) =>
        socket.once('data', () => socket.write(answer.slice(0, at), () => socket[ends]())),
      );
      const target = `http://127.0.0.1:${server.port}/`;
      const { up, detail } = await probeOnce(deps, 'http', target, { expectBody: 'body' });
      await server.close();
      assert.deepEqual([ends, at, up, detail], [ends, at, false, 'refused']);
    }
});

test('B4: a switch of the protocol without a request for it is an answer with its status', async (t) => {
  const { port } = await listen(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello')),
  );
  const target = `http://127.0.0.1:${port}/`;
  assert.equal((await probeOnce(loopbackProbes(), 'http', target)).detail, 'status_unexpected');
  assert.equal((await probeOnce(loopbackProbes(), 'http', target, { expect: 101 })).detail, 'ok');
});
