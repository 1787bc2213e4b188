import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { Failure } from '../domain/failure.ts';
import { ADDRESS_FORMS } from '../../test/support/address-forms.ts';
import { DialFailed } from '../dial/dial-failed.ts';
import { guardedDial, openDial, publicAddresses } from '../dial/guard.ts';
import type { Resolve } from '../dial/resolve.ts';
import { readEndpointUrl } from './endpoint-url.ts';
import { post } from './post.ts';

const PUBLIC = '93.184.215.14';
const URL_OF_PUSH = new URL('https://push.example.com/abc');

describe('The guard of push addresses', () => {
  /** A listener on loopback that counts what reaches it. */
  let listener: { port: number; bytes: number; connections: number; close(): void };
  before(async () => {
    const server = createServer((socket: Socket) => {
      listener.connections += 1;
      socket.on('data', (chunk) => (listener.bytes += chunk.length));
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    listener = {
      port: (server.address() as { port: number }).port,
      bytes: 0,
      connections: 0,
      close: () => server.close(),
    };
  });
  after(() => listener.close());

  test(
    'T36: each of more than 250 ways to name something inside is refused as invalid_argument, before anything is ' +
      'resolved',
    () => {
      assert.ok(ADDRESS_FORMS.length >= 250, String(ADDRESS_FORMS.length));
      const accepted = ADDRESS_FORMS.filter((form) => {
        try {
          readEndpointUrl(form);
          return true;
        } catch (error) {
          return !(
            error instanceof Failure &&
            error.code === 'invalid_argument' &&
            error.message.startsWith('endpoint: ')
          );
        }
      });
      assert.deepEqual(accepted, []);
    },
  );

  test('An https URL of a name or a public address is accepted, also with a port', () => {
    const good = [
      'https://push.example.com/abc',
      'HTTPS://Push.Example.com/abc?x=1',
      'https://push.example.com:8443/',
      'https://push.example.com',
      `https://${PUBLIC}/a`,
      'https://[2606:4700:4700::1111]:443/a',
      'https://bücher.example/a',
    ];
    for (const text of good) assert.equal(readEndpointUrl(text).protocol, 'https:', text);
  });

  test('A name with one address that is not public is refused, whatever its other addresses are', async () => {
    for (const inner of ['127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd00::1', '::ffff:127.0.0.1', 'fe80::1']) {
      const answers: Resolve = () => Promise.resolve([PUBLIC, inner]);
      await assert.rejects(
        publicAddresses(URL_OF_PUSH, answers, new AbortController().signal),
        (error: unknown) => error instanceof DialFailed && !error.message.includes(inner),
      );
    }
  });

  test('T37: in 1,000 rounds of a name that changes its answers, not a byte reaches the loopback listener', async () => {
    const answers = [
      ['127.0.0.1'],
      [PUBLIC],
      ['169.254.169.254'],
      [PUBLIC, '127.0.0.1'],
      ['::1'],
      ['::ffff:7f00:1'],
      [],
    ];
    let round = 0;
    const dial = guardedDial({
      resolve: () => Promise.resolve(answers[round % answers.length] ?? []),
      // A connection that was asked for a public address ends at the listener, as behind a router that redirects.
      open: () => connect({ host: '127.0.0.1', port: listener.port }),
    });
    const reasons = new Map<string, number>();
    for (; round < 1_000; round += 1) {
      await assert.rejects(
        post({ clock: systemClock, dial }, { url: URL_OF_PUSH, headers: {}, body: 'x' }),
        (error: unknown) => {
          const { message } = error as DialFailed;
          reasons.set(message, (reasons.get(message) ?? 0) + 1);
          return error instanceof DialFailed;
        },
      );
    }
    assert.equal(listener.bytes, 0);
    assert.equal(reasons.get('the connection reached a loopback address; only public ones are dialled'), 143);
    assert.deepEqual(
      [...reasons.keys()].filter((reason) => !/public|no address/.test(reason)),
      [],
    );
  });

  test('T38: a redirect is a failure, and nothing but the first connection is opened', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      let connections = 0;
      const server = createHttpServer((_request, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${listener.port}/latest/meta-data` }).end(),
      );
      server.on('connection', () => (connections += 1));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const before = listener.connections;
      const url = new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
      await assert.rejects(
        post({ clock: systemClock, dial: openDial() }, { url, headers: {}, body: 'x' }),
        new DialFailed(`answered ${status}: redirects are not followed`),
      );
      assert.deepEqual({ connections, atTarget: listener.connections - before }, { connections: 1, atTarget: 0 });
      server.close();
    }
  });
});
