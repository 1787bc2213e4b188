import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { listen, listenHttp } from '../../test/support/network/listener.ts';
import { probeOnce } from '../../test/support/network/probing.ts';
import type { Resolve } from '../dial/resolve.ts';
import { systemClock } from '../lib/clock.ts';
import { probeDeps } from './deps.ts';
import { needs } from '../../test/support/tools.ts';

/** This machine, its links and its metadata service, as addresses that a socket takes. */
const LITERALS = [
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '169.254.169.254',
  '169.254.1.1',
  '100.100.100.200',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::1',
  '2001:0:7f00:1::1',
  'fe80::1',
  'fd00:ec2::254',
  'ff02::1',
] as const;

/** Hosts of URLs that are one of them. */
const SPELLINGS = [
  '127.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.0.0.1.',
  '①②⑦.0.0.1',
  '%31%32%37.0.0.1',
  '0',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'user:secret@127.0.0.1',
  'example.org@127.0.0.1',
];

const hostOf = (address: string): string => (address.includes(':') ? `[${address}]` : address);

test('T40: probes of every kind refuse this machine in each spelling, and it sees no connection', async (t) => {
  const deps = probeDeps({ clock: systemClock, ca: [] });
  t.after(async () => deps.close());
  const listener = await listenHttp(t, (_request, response) => response.end('5'));
  const { port } = listener;
  for (const address of LITERALS) {
    const at = `${hostOf(address)}:${port}`;
    const results = await Promise.all([
      probeOnce(deps, 'tcp', at),
      probeOnce(deps, 'tls', at),
      probeOnce(deps, 'ping', address),
      probeOnce(deps, 'http', `http://${at}/`),
      probeOnce(deps, 'http', `https://${at}/`),
      probeOnce(deps, 'metric', `http://${at}/`),
    ]);
    for (const { up, detail } of results)
      assert.deepEqual([address, up, detail], [address, false, 'forbidden_address']);
  }
  for (const host of SPELLINGS)
    for (const kind of ['http', 'metric'] as const)
      assert.equal((await probeOnce(deps, kind, `http://${host}:${port}/`)).detail, 'forbidden_address', host);
  assert.equal((await probeOnce(deps, 'tls', `localhost:${port}`)).detail, 'forbidden_address');
  assert.equal(listener.connections, 0);
});

test('T40: a name that resolves to this machine is refused, also when only one of its addresses does', async (t) => {
  const listener = await listen(t);
  const answers = [['127.0.0.1'], ['::1'], ['10.0.0.5', '127.0.0.1'], ['::ffff:127.0.0.1'], ['0.0.0.0'], ['fe80::1']];
  for (const addresses of answers) {
    const resolve: Resolve = async () => addresses;
    const deps = probeDeps({ clock: systemClock, ca: [] }, { resolve });
    for (const probing of [
      probeOnce(deps, 'http', `http://inner.test:${listener.port}/`),
      probeOnce(deps, 'metric', `https://inner.test:${listener.port}/`),
      probeOnce(deps, 'tls', `inner.test:${listener.port}`),
    ])
      assert.equal((await probing).detail, 'forbidden_address', addresses.join());
  }
  assert.equal(listener.connections, 0);
});

const skip = needs('an address that is not loopback');

test('T40: with the setting, own addresses are refused in each form, and others are not', { skip }, async (t) => {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = all.find(({ internal, address }) => !internal && isIPv4(address))?.address;
  assert.ok(own !== undefined);
  const resolve: Resolve = async () => ['10.0.0.5', own];
  const deps = probeDeps({ clock: systemClock, ca: [], refuseOwn: true }, { resolve });
  const others = probeDeps({ clock: systemClock, ca: [] });
  t.after(() => {
    deps.close();
    others.close();
  });
  const listener = await listen(t);
  const { port } = listener;
  for (const address of [own, `[::ffff:${own}]`, `[64:ff9b::${own}]`])
    assert.equal((await probeOnce(deps, 'tcp', `${address}:${port}`)).detail, 'forbidden_address', address);
  assert.equal((await probeOnce(deps, 'ping', own)).detail, 'forbidden_address');
  assert.equal((await probeOnce(deps, 'http', `http://inner.test:${port}/`)).detail, 'forbidden_address');
  assert.equal((await probeOnce(deps, 'tcp', `127.0.0.1:${port}`)).detail, 'forbidden_address');
  assert.equal(listener.connections, 0);
  // The listener is on loopback only: without the setting the probe is made, and nothing answers.
  assert.equal((await probeOnce(others, 'tcp', `${own}:${port}`)).detail, 'refused');
});
