import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../../../test/support/refusal.ts';
import { NETGROUP_LIMITS, readPrefixList } from './prefix-list.ts';

const READ: readonly [list: string, prefixes: readonly string[], excludes: readonly string[]][] = [
  ['10.0.0.0/8,!10.1.0.0/16', ['10.0.0.0/8'], ['10.1.0.0/16']],
  [' 10.0.0.0/8 , ! 10.1.0.0/16 ', ['10.0.0.0/8'], ['10.1.0.0/16']],
  // In the order in which they were given, each once.
  ['192.168.0.0/16,10.0.0.0/8,192.168.0.0/16', ['192.168.0.0/16', '10.0.0.0/8'], []],
  // Bits behind the length are cleared; one address is a prefix.
  ['10.1.2.3/8, 10.255.0.0/8', ['10.0.0.0/8'], []],
  ['10.1.2.3/31, 10.1.2.3/0, 10.1.2.3', ['10.1.2.2/31', '0.0.0.0/0', '10.1.2.3/32'], []],
  ['2001:DB8:0:0::1/33, fd00::', ['2001:db8::/33', 'fd00::/128'], []],
  ['2001:db8:ffff::1/47, ::/0, 1:2:3:4:5:6:7:8/97', ['2001:db8:fffe::/47', '::/0', '1:2:3:4:5:6::/97'], []],
  // An IPv4 prefix in IPv6 form.
  ['::ffff:10.0.0.0/104, !::ffff:a01:203', ['10.0.0.0/8'], ['10.1.2.3/32']],
];

for (const [list, prefixes, excludes] of READ) {
  test(`T41: ${list} is read`, () => assert.deepEqual(readPrefixList(list), { prefixes, excludes }));
}

const GENERAL =
  /^prefixes: ".*" is not a prefix; expected an address and a length, such as 10\.0\.0\.0\/8 or fd00::\/8\.$/;
const ZEROS = /^prefixes: ".*" has a number with leading zeros; expected a prefix such as 10\.1\.0\.0\/16\.$/;
const LENGTH = /^prefixes: ".*" has a wrong length; expected 0 to 32 for IPv4 and 0 to 128 for IPv6\.$/;
const EMPTY = /^prefixes: expected a prefix such as 10\.0\.0\.0\/8 before and after each "," and after each "!"\.$/;

const REFUSED: readonly [list: string, message: RegExp][] = [
  ['', EMPTY],
  ['10.0.0.0/8,', EMPTY],
  ['10.0.0.0/8,,fd00::/8', EMPTY],
  ['10.0.0.0/8,!', EMPTY],
  ['10.0.0.0/33', LENGTH],
  ['10.0.0.0/', LENGTH],
  ['10.0.0.0/-1', LENGTH],
  ['10.0.0.0/8/8', LENGTH],
  ['10.0.0.0/255.0.0.0', LENGTH],
  ['fd00::/129', LENGTH],
  ['::ffff:10.0.0.0/95', LENGTH],
  ['010.1.2.3', ZEROS],
  ['10.01.0.0/16', ZEROS],
  ['10.0.0.0/08', ZEROS],
  ['fe80::1%eth0/64', /^prefixes: "fe80::1%eth0\/64" has a zone; expected a prefix without one, such as fe80::\/10\.$/],
  ['10.0.0/8', GENERAL],
  ['10/8', GENERAL],
  ['0xa.0.0.0/8', GENERAL],
  ['[fd00::]/8', GENERAL],
  ['!!10.0.0.0/8', GENERAL],
  ['example.org', GENERAL],
  ['10.0.0.0/8 fd00::/8', LENGTH],
  ['!10.0.0.0/8', /^prefixes: expected at least one prefix without !; a group with exclusions only covers nothing\.$/],
];

for (const [list, message] of REFUSED) {
  test(`T41: ${list === '' ? 'an empty list' : list} is refused`, () => {
    assert.throws(() => readPrefixList(list), refusal('invalid_argument', message));
  });
}

const many = (count: number): string => Array.from({ length: count }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join(',');

test('A group has at most 1,000 prefixes', () => {
  const { prefixes } = readPrefixList(many(NETGROUP_LIMITS.prefixesEach));
  assert.equal(prefixes.length, NETGROUP_LIMITS.prefixesEach);
  assert.throws(
    () => readPrefixList(many(NETGROUP_LIMITS.prefixesEach + 1)),
    refusal('invalid_argument', /^prefixes: expected at most 1000 prefixes\.$/),
  );
});
