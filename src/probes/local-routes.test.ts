import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localRoutes } from './local-routes.ts';

/** Of a machine with 10.9.9.1/24 on its loopback interface and a local route to 10.7.7.0/24. */
const FIB_TRIE = `Local:
  +-- 0.0.0.0/0 3 0 4
     +-- 10.0.0.0/12 2 0 2
        |-- 10.7.7.0
           /24 host LOCAL
        +-- 10.9.9.0/24 2 0 2
           |-- 10.9.9.0
              /24 host LOCAL
           |-- 10.9.9.1
              /32 host LOCAL
           |-- 10.9.9.255
              /32 link BROADCAST
     |-- 192.0.2.0
        /24 link UNICAST
`;
const NONE = '0'.repeat(32);
const v6 = (destination: string, bits: string, flags: string): string =>
  `${destination} ${bits} ${NONE} 00 ${NONE} 00000000 00000001 00000000 ${flags}       lo\n`;
const IPV6_ROUTE =
  v6('fd070000000000000000000000000000', '40', '80200001') +
  v6('fd080000000000000000000000000000', '40', '00000001') +
  v6('fd090000000000000000000000000000', '80', '00300001') +
  v6(NONE, '00', '00200200');

test('T40: every address of a local route is one of this machine, and no other is', () => {
  const local = localRoutes(FIB_TRIE, IPV6_ROUTE);
  for (const [address, isLocal] of [
    ['10.9.9.77', true],
    ['10.7.7.5', true],
    ['10.8.8.8', false],
    ['192.0.2.7', false],
  ] as const)
    assert.equal(local.check(address, 'ipv4'), isLocal, address);
  for (const [address, isLocal] of [
    ['fd07::5', true],
    ['fd08::5', false],
    ['fd09::', true],
    ['fd09::1', false],
  ] as const)
    assert.equal(local.check(address, 'ipv6'), isLocal, address);
  assert.equal(localRoutes('', '').check('10.7.7.5', 'ipv4'), false);
});
