import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Peers } from './peers.ts';

function request(from: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return { headers, socket: { remoteAddress: from } } as unknown as IncomingMessage;
}

function peerOf(trusted: readonly string[], from: string, forwarded: string): string {
  return new Peers(trusted).of(request(from, { 'x-forwarded-for': forwarded })).address;
}

const socketOf = (remoteAddress: string | undefined): Socket => ({ remoteAddress }) as Socket;

test('T11: X-Forwarded-For is used from a trusted proxy only, not even from loopback', () => {
  assert.equal(peerOf([], '127.0.0.1', '198.51.100.7'), '127.0.0.1');
  assert.equal(peerOf(['10.0.0.0/8'], '192.0.2.1', '198.51.100.7'), '192.0.2.1');
  assert.equal(peerOf(['127.0.0.1'], '127.0.0.1', '198.51.100.7'), '198.51.100.7');
  assert.equal(peerOf(['127.0.0.1'], '::ffff:127.0.0.1', '198.51.100.7'), '198.51.100.7');
  assert.equal(peerOf(['fd00::/8'], 'fd00::5', '2001:DB8::0:7'), '2001:db8::7');
});

test('T11: the peer is the last address that is not a trusted proxy, whatever the client wrote before it', () => {
  const trusted = ['10.0.0.0/8', '::1'];
  for (const [forwarded, peer] of [
    ['1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['198.51.100.7, 10.1.1.1, 10.2.2.2', '198.51.100.7'],
    ['10.9.9.9, 198.51.100.7,10.1.1.1', '198.51.100.7'],
    ['10.9.9.9, 10.8.8.8', '10.9.9.9'],
    ['198.51.100.7:4711', '198.51.100.7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['"[2001:db8::7]:4711"', '2001:db8::7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    [' \t198.51.100.7 ', '198.51.100.7'],
    // An unreadable entry hides the entries before it.
    ['198.51.100.7, unknown', '10.0.0.1'],
    ['198.51.100.7, unknown, 10.1.1.1', '10.1.1.1'],
    ['198.51.100.7,', '10.0.0.1'],
    ['198.51.100.7, , 10.1.1.1', '10.1.1.1'],
    ['198.51.100.7, 0x7f.1', '10.0.0.1'],
    ['198.51.100.7, fe80::1%eth0', '10.0.0.1'],
    [`198.51.100.7, ${'1'.repeat(65)}`, '10.0.0.1'],
    ['', '10.0.0.1'],
  ] as const) {
    assert.equal(peerOf(trusted, '10.0.0.1', forwarded), peer, forwarded);
  }
});

test('T64: of one X-Forwarded-For the last 16 addresses are read', () => {
  const proxies = Array<string>(16).fill('10.1.1.1').join(',');
  assert.equal(peerOf(['10.0.0.0/8'], '10.0.0.1', `198.51.100.7,${proxies.slice(9)}`), '198.51.100.7');
  assert.equal(peerOf(['10.0.0.0/8'], '10.0.0.1', `198.51.100.7,${proxies}`), '10.1.1.1');
});

const saysHttps = (from: string, proto: string): boolean =>
  new Peers(['10.0.0.0/8']).of(request(from, { 'x-forwarded-proto': proto })).https;

test('X-Forwarded-Proto of a trusted proxy shows whether the client uses https; the nearest proxy decides', () => {
  assert.deepEqual(
    ['https', 'HTTPS', 'http, https', ' https '].map((proto) => saysHttps('10.0.0.1', proto)),
    [true, true, true, true],
  );
  assert.deepEqual(
    ['http', '', 'https, http', 'httpsx', 'wss'].map((proto) => saysHttps('10.0.0.1', proto)),
    [false, false, false, false, false],
  );
  assert.equal(saysHttps('192.0.2.1', 'https'), false);
});

test('T76: connections are counted by IPv4 address and by /64 of IPv6; loopback and trusted proxies are not', () => {
  const peers = new Peers(['10.0.0.0/8']);
  const key = (address: string | undefined): string | null => peers.connectionKey(socketOf(address));
  assert.equal(key('198.51.100.7'), '198.51.100.7');
  assert.equal(key('::ffff:198.51.100.7'), '198.51.100.7');
  assert.equal(key('2001:db8:1:2:3:4:5:6'), key('2001:db8:1:2::1'));
  assert.notEqual(key('2001:db8:1:2::1'), key('2001:db8:1:3::1'));
  assert.equal(key('fe80::1%eth0'), key('fe80::2%eth0'));
  assert.deepEqual(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '10.1.1.1'].map(key), [
    null,
    null,
    null,
    null,
    null,
  ]);
  // These contain a loopback address but are not of this machine.
  for (const carrier of ['2002:7f00:1::1', '64:ff9b::7f00:1']) assert.notEqual(key(carrier), null, carrier);
  // The connection ended before its address was read.
  assert.equal(key(undefined), 'unknown');
});

test('T76: requests are counted by the peer behind a trusted proxy; headers of other clients are ignored', () => {
  const peers = new Peers(['127.0.0.1']);
  const key = (from: string, forwarded: string): string | null =>
    peers.requestKey(request(from, { 'x-forwarded-for': forwarded }));
  assert.equal(key('127.0.0.1', '198.51.100.7'), '198.51.100.7');
  assert.equal(key('127.0.0.1', '2001:db8::7'), '20010db800000000::/64');
  assert.equal(key('127.0.0.1', '127.0.0.2'), null);
  assert.equal(key('198.51.100.7', '203.0.113.1'), null);
});
