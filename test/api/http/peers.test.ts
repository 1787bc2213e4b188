/** Who is behind a connection: limits by address, and what a trusted proxy says. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { Peers } from '../../../src/faces/http/peers.ts';
import { openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { startProgram } from '../../support/program.ts';
import { exchange, open, request, split, untilClosed, untilHas } from '../../support/raw-http.ts';

/** Every address counts, as those off loopback do. */
const everybodyIsForeign = (): boolean => false;
const KEPT = 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n';
const LIMITS = { connections: 12, perAddress: 3 };

interface Listener {
  readonly port: number;
}

/** Opens a connection and waits until the listener answered on it. */
async function held(port: number, from: string): ReturnType<typeof open> {
  const socket = await open(port, from);
  socket.write(KEPT);
  await untilHas(socket, '\r\n\r\n');
  return socket;
}

const LISTENERS: Readonly<
  Record<string, (t: Parameters<typeof startProgram>[0] & object, peers: Peers) => Promise<Listener>>
> = {
  web: (t, peers) => startProgram(t, { peers, limits: LIMITS }),
  ingress: (t, peers) => openHookFixture(t, { peers, limits: LIMITS }),
};

for (const [name, start] of Object.entries(LISTENERS)) {
  test(`T76: one address never takes all connections of the ${name} listener; more are closed unread`, async (t) => {
    const { port } = await start(t, new Peers([], everybodyIsForeign));
    const mine = await Promise.all(Array.from({ length: LIMITS.perAddress }, () => held(port, '127.0.0.2')));
    // More than the listener takes in all.
    const refused = await Promise.all(Array.from({ length: LIMITS.connections }, () => open(port, '127.0.0.2')));
    assert.deepEqual(
      await Promise.all(refused.map(untilClosed)),
      refused.map(() => ''),
    );
    const other = await held(port, '127.0.0.3');
    mine[0]?.end();
    await once(mine[0] ?? other, 'close');
    // The end is seen by the listener a moment later.
    for (;;) {
      const socket = await open(port, '127.0.0.2');
      socket.write(KEPT);
      const answered = await untilHas(socket, '\r\n\r\n').then(
        () => true,
        () => false,
      );
      mine.push(socket);
      if (answered) break;
    }
    for (const socket of [...mine, other]) socket.destroy();
  });

  test(`Connections from loopback have the limit of the ${name} listener as a whole, and no other`, async (t) => {
    const { port } = await start(t, new Peers());
    const sockets = await Promise.all(Array.from({ length: LIMITS.connections }, () => held(port, '127.0.0.1')));
    for (const socket of sockets) socket.destroy();
  });
}

test('T76: behind a trusted proxy one client has a limit of requests in progress, and the others go on', async (t) => {
  const fixture = await openHookFixture(t, { peers: new Peers(['127.0.0.9']), limits: { perAddress: 2 } });
  const path = new URL(await fixture.hook('generic')).pathname;
  const body = '{"name":"x"}';
  const headOf = (client: string): string =>
    request('POST', path, { 'X-Forwarded-For': client, 'Content-Length': String(body.length), Expect: '100-continue' });
  const [waiting, second] = [await open(fixture.port, '127.0.0.9'), await open(fixture.port, '127.0.0.9')];
  for (const socket of [waiting, second]) socket.write(headOf('198.51.100.7'));
  // The listener says "100 Continue" once it has begun to serve a request.
  await Promise.all([waiting, second].map((socket) => untilHas(socket, '100 Continue')));
  const ask = async (client: string): Promise<number> => {
    const socket = await open(fixture.port, '127.0.0.9');
    socket.write(request('POST', path, { 'X-Forwarded-For': client, 'Content-Length': String(body.length) }, body));
    return split(await untilClosed(socket)).status;
  };
  assert.equal(await ask('198.51.100.7'), 503);
  assert.equal(await ask('1.1.1.1, 198.51.100.7'), 503);
  assert.equal(await ask('198.51.100.8'), 202);
  for (const socket of [waiting, second]) {
    const answer = untilClosed(socket);
    socket.write(body);
    assert.match(await answer, /^HTTP\/1\.1 202/);
  }
  assert.equal(await ask('198.51.100.7'), 202);
});

test('T11: behind a trusted proxy peer_ip is the client that the proxy names, on the ledger too', async (t) => {
  const fixture = await openHookFixture(t, { peers: new Peers(['127.0.0.1/32']) });
  const url = await fixture.hook('generic');
  for (const forwarded of ['1.1.1.1, 198.51.100.7', '[2001:db8::7]:443', 'garbage', ''])
    assert.equal((await tell(url, { name: 'x' }, { headers: { 'x-forwarded-for': forwarded } })).status, 202);
  assert.deepEqual(
    (await fixture.events()).map(({ labels }) => labels['peer_ip']),
    ['198.51.100.7', '2001:db8::7', '127.0.0.1', '127.0.0.1'],
  );
  // Repeated headers are one list.
  const path = new URL(url).pathname;
  const repeated = request(
    'POST',
    path,
    { 'X-Forwarded-For': '198.51.100.9\r\nX-Forwarded-For: 198.51.100.10', 'Content-Length': '12' },
    '{"name":"x"}',
  );
  assert.equal(split(await exchange(fixture.port, repeated)).status, 202);
  assert.equal((await fixture.events()).at(-1)?.labels['peer_ip'], '198.51.100.10');
});

test('The session cookie is Secure where a trusted proxy says https, at sign-in and sign-out', async (t) => {
  const cookieOf = async (peers: Peers, proto: string): Promise<string> => {
    const program = await startProgram(t, { peers });
    const body = new URLSearchParams({ token: program.tokens.readonly });
    const answer = await fetch(`${program.url}/login`, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { 'x-forwarded-proto': proto },
    });
    return answer.headers.get('set-cookie') ?? '';
  };
  assert.match(await cookieOf(new Peers(['127.0.0.1']), 'https'), /; Secure$/);
  assert.match(await cookieOf(new Peers(['127.0.0.1']), 'http'), /SameSite=Lax$/);
  assert.match(await cookieOf(new Peers(), 'https'), /SameSite=Lax$/);
});

test('The log names the peer of a request that failed', async (t) => {
  const fixture = await openHookFixture(t, {
    peers: new Peers(['127.0.0.1']),
    wrapStore: (store) => ({ ...store, db: store.db, write: () => Promise.reject(new Error('broken')) }),
  });
  assert.equal(
    (await tell(await fixture.hook('generic'), { name: 'x' }, { headers: { 'x-forwarded-for': '198.51.100.7' } }))
      .status,
    500,
  );
  assert.deepEqual(
    fixture.logged.map(({ fields }) => (fields as { peer?: string }).peer),
    ['198.51.100.7'],
  );
});

test('--trusted-proxy takes prefixes and addresses, also from the environment, and names an invalid one', () => {
  assert.deepEqual(readSettings({}, {}).trustedProxy, []);
  assert.deepEqual(readSettings({ 'trusted-proxy': '10.0.0.0/8 fd00::/8' }, {}).trustedProxy, [
    '10.0.0.0/8',
    'fd00::/8',
  ]);
  assert.deepEqual(readSettings({}, { SVC_TRUSTED_PROXY: '192.0.2.7,::1' }).trustedProxy, ['192.0.2.7', '::1']);
  for (const text of [
    '10.0.0.0/33',
    'proxy.example.com',
    '10.0.0.0/8/8',
    '0.0.0.0/0',
    '::/0',
    '::ffff:10.0.0.0/104',
    '224.0.0.0/4',
    '0.0.0.0',
    '10.0.0.0/8 x',
    Array(65).fill('10.0.0.1').join(' '),
  ]) {
    assert.throws(() => readSettings({ 'trusted-proxy': text }, {}), /--trusted-proxy: /, text);
  }
});
