import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressClass, addressWords, classifyAddress } from './address.ts';

const CASES: readonly [AddressClass | null, readonly string[]][] = [
  ['public', ['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '192.0.1.1', '100.63.255.255', '100.128.0.0', '223.255.255.255', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1']],
  ['loopback', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::']],
  ['private', ['10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', 'fc00::', 'fdff::1', 'fec0::1', '::ffff:10.0.0.1']],
  ['link-local', ['169.254.0.1', 'fe80::1', 'febf::1', '::ffff:169.254.0.1']],
  ['metadata', ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe']],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', '::ffff:224.0.0.1']],
  ['unspecified', ['0.0.0.0', '::', '::ffff:0.0.0.0']],
  ['broadcast', ['255.255.255.255', '::ffff:255.255.255.255']],
  ['reserved', ['0.1.2.3', '100.64.0.1', '192.0.2.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '240.0.0.1', '2001:db8::1', '2001:10::1', '3fff::1', '100::1', '::8.8.8.8', '64:ff9b:1::1', '4000::1']],
  // A Teredo address reaches through its server and its client.
  ['loopback', ['2001:0:7f00:1::1', '2001:0:808:808::80ff:fffe']],
  ['public', ['2001:0:808:808::f7f7:f7f7']],
  [null, ['', 'localhost', '127.1', '0x7f.0.0.1', '127.0.0.1.', 'fe80::1%eth0', '1.2.3.4/8', '[::1]', '::g']],
];

for (const [kind, addresses] of CASES) {
  test(`T36: ${kind ?? 'no address'}: ${addresses.slice(0, 3).join(', ')} and the like`, () => {
    assert.deepEqual(addresses.map((address) => [address, classifyAddress(address)]), addresses.map((address) => [address, kind]));
  });
}

test('A refusal names the class with the article that it takes', () => {
  assert.deepEqual((['unspecified', 'loopback', null] as const).map(addressWords), ['an unspecified address', 'a loopback address', 'a malformed address']);
});
