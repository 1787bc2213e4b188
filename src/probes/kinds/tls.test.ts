import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { listenTls } from '../../../test/support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../../test/support/network/probing.ts';
import { createAuthority } from '../../../test/support/notify/push-authority.ts';
import { needs } from '../../../test/support/tools.ts';
import { systemClock } from '../../lib/clock.ts';

const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];

test(
  'Certificates that are valid, end soon, have expired or are not trusted have different words',
  { skip: needs('openssl') },
  async (t) => {
    const authority = createAuthority(t);
    const ca = [authority.ca.toString()];
    const deps = loopbackProbes({ ca, seams: { resolve } });
    const good = await listenTls(t, authority.certificate(['db.test']));
    const detail = async (probes: typeof deps, target: string, minDays = 0): Promise<unknown> => {
      const { up, detail: word, certificateDays } = await probeOnce(probes, 'tls', target, { minDays });
      return [up, word, certificateDays];
    };
    assert.deepEqual(await detail(deps, `db.test:${good.port}`), [true, 'ok', 0]);
    assert.deepEqual(await detail(deps, `127.0.0.1:${good.port}`), [true, 'ok', 0]);
    assert.deepEqual(await detail(deps, `db.test:${good.port}`, 14), [false, 'certificate_expires_soon', 0]);
    assert.deepEqual(await detail(deps, `web.test:${good.port}`), [false, 'certificate_untrusted', 0]);
    const publicOnly = loopbackProbes({ seams: { resolve } });
    assert.deepEqual(await detail(publicOnly, `db.test:${good.port}`), [false, 'certificate_untrusted', 0]);
    const expired = await listenTls(t, authority.certificate(['db.test'], { expired: true }));
    for (const probes of [deps, publicOnly]) {
      const [, word, days] = (await detail(probes, `db.test:${expired.port}`)) as [boolean, string, number];
      assert.equal(word, 'certificate_expired');
      assert.ok(days < 0, String(days));
    }
    const later = loopbackProbes({ ca, clock: new HandClock(systemClock.now() + 3 * 86_400_000), seams: { resolve } });
    assert.deepEqual(await detail(later, `db.test:${good.port}`), [false, 'certificate_expired', -3]);
  },
);

test(
  'An https target gets no byte of the request before its certificate was verified, by name too',
  { skip: needs('openssl') },
  async (t) => {
    const authority = createAuthority(t);
    let requests = 0;
    const serve = (socket: NodeJS.WritableStream & NodeJS.ReadableStream): void => {
      socket.once('data', () => {
        requests += 1;
        socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n5');
      });
    };
    const { port } = await listenTls(t, authority.certificate(['db.test', '127.0.0.1']), serve);
    const deps = loopbackProbes({ ca: [authority.ca.toString()], seams: { resolve } });
    for (const kind of ['http', 'metric'] as const) {
      const detail = async (probes: typeof deps, host: string): Promise<unknown> => {
        const result = await probeOnce(probes, kind, `https://user:secret@${host}:${port}/`);
        return [result.detail, result.certificateDays];
      };
      assert.deepEqual(await detail(deps, 'web.test'), ['certificate_untrusted', 0]);
      assert.deepEqual(await detail(loopbackProbes(), '127.0.0.1'), ['certificate_untrusted', 0]);
      assert.equal(requests, kind === 'http' ? 0 : 2);
      assert.deepEqual(await detail(deps, 'db.test'), ['ok', 0]);
      assert.deepEqual(await detail(deps, '127.0.0.1'), ['ok', 0]);
    }
    assert.equal(requests, 4);
  },
);
