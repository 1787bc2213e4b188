import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { describe, test } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import type { Ending } from '../../../../test/support/fixtures/installation.ts';
import { listen } from '../../../../test/support/network/listener.ts';
import { type Certificate, createAuthority } from '../../../../test/support/notify/push-authority.ts';
import { needs } from '../../../../test/support/tools.ts';
import { Dialer } from './dial.ts';

const LIMIT_MS = 10_000;
/** Far more than a test needs, and less than it may hang. */
const TEST_LIMIT = { timeout: 30_000 };
const SSL_REQUEST = 80_877_103;
const QUERY = 'Q'.charCodeAt(0);

interface Script {
  /** Without one the server does not take encrypted connections. */
  readonly certificate?: Certificate;
  /** Called when the client asks for encryption. */
  readonly asked?: () => void;
  /** Called when the client has sent its first message, in plain or encrypted. */
  readonly login: (stream: Socket) => void;
  readonly query?: (stream: Socket) => void;
}

interface Server {
  readonly at: string;
  readonly port: number;
  /** How each client that wanted to log in was connected. */
  readonly logins: readonly ('plain' | 'encrypted')[];
  /** How many connections it got. */
  readonly connections: () => number;
}

/** A server that speaks as much of the protocol of PostgreSQL as a connection needs. */
async function startServer(ending: Ending, { certificate, asked, login, query }: Script): Promise<Server> {
  const logins: ('plain' | 'encrypted')[] = [];
  const speak = (stream: Socket, kind: 'plain' | 'encrypted'): void => {
    logins.push(kind);
    stream.on('data', (data: Buffer) => {
      if (data[0] === QUERY) query?.(stream);
    });
    login(stream);
  };
  const listener = await listen(ending, (socket) => {
    socket.once('data', (data: Buffer) => {
      if (data.readInt32BE(4) !== SSL_REQUEST) return speak(socket, 'plain');
      asked?.();
      if (certificate === undefined) return void socket.write('N');
      const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) });
      secure.on('error', () => undefined).once('data', () => speak(secure, 'encrypted'));
      socket.write('S');
    });
  });
  const { port } = listener;
  return { at: `127.0.0.1:${port}`, port, logins, connections: () => listener.connections };
}

function message(type: string, body: string | Uint8Array): Buffer {
  const content = Buffer.from(body as string);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + content.length, 1);
  return Buffer.concat([head, content]);
}

const LOGGED_IN = message('R', Buffer.alloc(4));
const READY = message('Z', 'I');
/** A column of text. */
const COLUMN = Buffer.from('\0\x01transaction_read_only\0\0\0\0\0\0\0\0\0\0\x19\0\0\0\0\0\0\0\0');
const refusal = (code: string): Buffer => message('E', `SFATAL\0C${code}\0Mrefused\0\0`);

const accept = (stream: Socket): void => void stream.write(Buffer.concat([LOGGED_IN, READY]));
const answer =
  (isReadOnly: 'on' | 'off') =>
  (stream: Socket): void => {
    const row = message('D', `\0\x01\0\0\0${String.fromCharCode(isReadOnly.length)}${isReadOnly}`);
    stream.write(Buffer.concat([message('T', COLUMN), row, message('C', 'SHOW\0'), READY]));
  };

const urlOf = (servers: readonly Server[], sslMode: string): string =>
  `postgres://me:pw@${servers.map(({ at }) => at).join(',')}/x?sslmode=${sslMode}`;

describe('Dialling a server of PostgreSQL', TEST_LIMIT, () => {
  test('a standby gets one login, encrypted, before the next host is tried', { skip: needs('openssl') }, async (t) => {
    const certificate = createAuthority(t).certificate(['localhost']);
    const standby = await startServer(t, { certificate, login: accept, query: answer('on') });
    const writer = await startServer(t, { certificate, login: accept, query: answer('off') });
    const { client, host } = await new Dialer(urlOf([standby, writer], 'prefer'), LIMIT_MS).connect();
    await client.end();
    assert.equal(host.port, writer.port);
    assert.deepEqual([standby.logins, writer.logins], [['encrypted'], ['encrypted']]);
    assert.equal(standby.connections(), 1);
  });

  test('a server that does not say whether it is read-only gets one login, within its share of the time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const clock = new HandClock();
    const script: Script = {
      login(stream) {
        clock.advance(3_000);
        accept(stream);
      },
      query: () => t.mock.timers.tick(2_000),
    };
    const servers = [await startServer(t, script), await startServer(t, script)];
    const late = 'the server did not say in time whether it is read-only';
    await assert.rejects(new Dialer(urlOf(servers, 'allow'), LIMIT_MS, clock).connect(), {
      message: servers.map(({ at }) => `${at}: ${late}`).join('; '),
    });
    assert.deepEqual(
      servers.map(({ logins, connections }) => [logins, connections()]),
      [
        [['plain'], 1],
        [['plain'], 1],
      ],
    );
  });

  test('both ways to a host share its time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const clock = new HandClock();
    let spentMs = 6_000;
    const server = await startServer(t, {
      asked: () => clock.advance(spentMs),
      login: () => t.mock.timers.tick(LIMIT_MS - spentMs),
    });
    const dialer = new Dialer(urlOf([server], 'prefer'), LIMIT_MS, clock);
    await assert.rejects(dialer.connect(), { message: 'no answer in time' });
    assert.deepEqual(server.logins, ['plain']);
    spentMs = LIMIT_MS;
    await assert.rejects(dialer.connect(), { message: 'the server does not take encrypted connections' });
    assert.deepEqual(server.logins, ['plain']);
  });

  test('the other kind of connection is tried after a refused login, and after no later failure', async (t) => {
    const table: readonly (readonly [Buffer, number, string])[] = [
      [refusal('28000'), 2, 'the server does not take encrypted connections'],
      [refusal('08P01'), 2, 'the server does not take encrypted connections'],
      [refusal('57P03'), 1, 'the server starts or stops (57P03)'],
      [Buffer.concat([LOGGED_IN, refusal('28000')]), 1, 'the server does not accept this user from here (28000)'],
      [Buffer.concat([LOGGED_IN, refusal('3D000')]), 1, 'the database does not exist (3D000)'],
      [Buffer.alloc(0), 1, 'the connection was closed'],
    ];
    for (const [last, connections, why] of table) {
      const server = await startServer(t, { login: (stream) => void stream.end(last) });
      await assert.rejects(new Dialer(urlOf([server], 'allow'), LIMIT_MS).connect(), { message: why });
      assert.equal(server.connections(), connections, why);
    }
  });
});
