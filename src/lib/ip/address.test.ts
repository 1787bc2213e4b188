import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import { test } from 'node:test';
import {
  type AddressClass,
  addressSet,
  addressWords,
  allowsAddress,
  canonicalAddress,
  classifyAddress,
  customerPrefix,
  parsePrefix,
} from './address.ts';

const CASES: readonly [AddressClass | null, readonly string[]][] = [
  [
    'public',
    [
      '8.8.8.8',
      '1.1.1.1',
      '172.15.0.1',
      '172.32.0.1',
      '192.0.1.1',
      '100.63.255.255',
      '100.128.0.0',
      '223.255.255.255',
      '2606:4700:4700::1111',
      '2a00:1450:4001:81b::200e',
      '::ffff:8.8.8.8',
      '64:ff9b::8.8.8.8',
      '2002:808:808::1',
    ],
  ],
  [
    'loopback',
    [
      '127.0.0.1',
      '127.255.255.255',
      '::1',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
    ],
  ],
  [
    'private',
    [
      '10.255.255.255',
      '172.16.0.0',
      '172.31.255.255',
      '192.168.0.1',
      'fc00::',
      'fdff::1',
      'fec0::1',
      '::ffff:10.0.0.1',
    ],
  ],
  ['link-local', ['169.254.0.1', 'fe80::1', 'febf::1', '::ffff:169.254.0.1']],
  [
    'metadata',
    [
      '169.254.169.254',
      '100.100.100.200',
      '168.63.129.16',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
    ],
  ],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', '::ffff:224.0.0.1']],
  ['unspecified', ['0.0.0.0', '::', '::ffff:0.0.0.0']],
  ['broadcast', ['255.255.255.255', '::ffff:255.255.255.255']],
  ['shared', ['100.64.0.1', '100.127.255.255', '::ffff:100.64.0.1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
  ['benchmarking', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
  [
    'reserved',
    [
      '0.1.2.3',
      '192.0.0.1',
      '192.88.99.1',
      '240.0.0.1',
      '2001:10::1',
      '100::1',
      '::8.8.8.8',
      '64:ff9b:1::1',
      '4000::1',
    ],
  ],
  // A Teredo address reaches its server and its client.
  ['loopback', ['2001:0:7f00:1::1', '2001:0:808:808::80ff:fffe']],
  ['public', ['2001:0:808:808::f7f7:f7f7']],
  [null, ['', 'localhost', '127.1', '0x7f.0.0.1', '127.0.0.1.', 'fe80::1%eth0', '1.2.3.4/8', '[::1]', '::g']],
];

for (const [kind, addresses] of CASES) {
  test(`T36: ${kind ?? 'no address'}: ${addresses.slice(0, 3).join(', ')} and others`, () => {
    assert.deepEqual(
      addresses.map((address) => [address, classifyAddress(address)]),
      addresses.map((address) => [address, kind]),
    );
  });
}

test('A refusal names the class with the article that it takes', () => {
  assert.deepEqual((['unspecified', 'loopback', null] as const).map(addressWords), [
    'an unspecified address',
    'a loopback address',
    'a malformed address',
  ]);
});

test('An address has one spelling, and an IPv4-mapped address is IPv4', () => {
  const spellings: readonly (readonly [string, string | null])[] = [
    ['::FFFF:10.0.0.5', '10.0.0.5'],
    ['0:0:0:0:0:ffff:a00:5', '10.0.0.5'],
    ['::ffff:0:1', '0.0.0.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::1', '::1'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['fe80::1%eth0', null],
    ['10.0.0.05', null],
    ['0x7f.1', null],
    ['', null],
    ['localhost', null],
  ];
  assert.deepEqual(
    spellings.map(([text]) => [text, canonicalAddress(text)]),
    spellings,
  );
  assert.deepEqual(['10.0.0.5', '2001:db8::1', '2001:db8:0:1::', 'fe80:1:2:3:4:5:6:7'].map(customerPrefix), [
    '10.0.0.5',
    '20010db800000000::/64',
    '20010db800000001::/64',
    'fe80000100020003::/64',
  ]);
});

test('A prefix is an address and a length; an address alone counts as one', () => {
  assert.deepEqual(parsePrefix('10.0.0.0/8'), { address: '10.0.0.0', bits: 8, family: 'ipv4' });
  assert.deepEqual(parsePrefix('FD00:0::/8'), { address: 'fd00::', bits: 8, family: 'ipv6' });
  assert.deepEqual(parsePrefix('192.0.2.7'), { address: '192.0.2.7', bits: 32, family: 'ipv4' });
  for (const text of [
    '',
    '/',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/8 ',
    'fd00::/129',
    '::ffff:10.0.0.0/104',
    'fe80::1%eth0/64',
    '[::1]/128',
    'all',
  ])
    assert.equal(parsePrefix(text), null, text);
  assert.equal(addressSet(['10.0.0.0/8', 'x']), null);
});

test('T40: A probe reaches the network in every spelling, and this machine in none', () => {
  const allowed = ['public', 'private', 'shared', 'documentation', 'benchmarking'];
  for (const [kind, addresses] of CASES)
    for (const address of addresses)
      assert.equal(allowsAddress('probe', address), kind !== null && allowed.includes(kind), `${kind} ${address}`);
  for (const address of ['10.0.0.5', '::ffff:10.0.0.5', '64:ff9b::10.0.0.5', '2002:a00:5::1', 'fd12::1', '8.8.8.8'])
    assert.equal(allowsAddress('probe', address), true, address);
});

test('What a destination reaches is not what a listener or a peer is', () => {
  for (const carrier of ['2002:7f00:1::1', '64:ff9b::7f00:1', '2001:0:7f00:1::80ff:fffe']) {
    assert.equal(allowsAddress('push', carrier), false, carrier);
    assert.equal(allowsAddress('git', carrier), true, carrier);
    assert.equal(allowsAddress('loopback', carrier), false, carrier);
  }
  for (const loopback of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.equal(allowsAddress('loopback', loopback), true, loopback);
});

const words = (text: string): string[] => text.split(':').filter((word) => word !== '');

/** An address as a number, read without any of the code under test. */
function numberOf(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [front = '', back] = address.split('::');
  const [head, tail] = [words(front), words(back ?? '')];
  const all = back === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return all.reduce((sum, word) => sum * 65_536n + BigInt(`0x${word}`), 0n);
}

const text = (value: bigint, bits: number): string =>
  bits === 32
    ? [24n, 16n, 8n, 0n].map((at) => (value >> at) & 255n).join('.')
    : Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 65_535n).toString(16)).join(':');

test('Membership in prefixes equals a comparison of numbers, at the edges of each prefix too', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % below;
  for (let round = 0; round < 300; round += 1) {
    const width = random(2) === 0 ? 32 : 128;
    const bits = random(width + 1);
    const value = Array.from({ length: width / 8 }, () => BigInt(random(256))).reduce(
      (sum, byte) => sum * 256n + byte,
      0n,
    );
    const size = 1n << BigInt(width - bits);
    const first = value - (value % size);
    const set = addressSet([`${text(value, width)}/${bits}`])!;
    const top = (1n << BigInt(width)) - 1n;
    for (const at of [
      first - 1n,
      first,
      first + size - 1n,
      first + size,
      value,
      value ^ 1n,
      value ^ (1n << BigInt(width - 1)),
    ]) {
      if (at < 0n || at > top) continue;
      const address = canonicalAddress(text(at, width))!;
      const expected =
        width === 128 && isIPv4(address)
          ? set.includes(address)
          : numberOf(address) >= first && numberOf(address) < first + size;
      assert.equal(set.includes(address), expected, `${text(value, width)}/${bits} and ${address}`);
    }
  }
});
