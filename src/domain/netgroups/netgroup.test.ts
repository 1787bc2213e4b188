import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classify, type Netgroup, plainAddress } from './netgroup.ts';

function group(name: string, includes: string, excludes = 'nothing'): Netgroup {
  return {
    name,
    includes: (address) => address.startsWith(includes),
    excludes: (address) => address.startsWith(excludes),
  };
}

test('An IPv4 address is the same in whatever a listener wraps it', () => {
  assert.equal(plainAddress('::ffff:10.0.0.5'), '10.0.0.5');
  assert.equal(plainAddress('::FFFF:10.0.0.5'), '10.0.0.5');
  assert.equal(plainAddress('10.0.0.5'), '10.0.0.5');
  assert.equal(plainAddress('FE80::1%eth0'), 'fe80::1');
  assert.equal(plainAddress('::1'), '::1');
});

test('While no group is defined, every address is away', () => {
  for (const address of ['127.0.0.1', '::ffff:10.0.0.5', '2001:db8::1', ''])
    assert.equal(classify(address, []), 'away');
});

test('The first group that covers an address has it, and one exclusion anywhere sends it away', () => {
  assert.equal(classify('::ffff:10.1.2.3', [group('dc', '10.1.'), group('all', '10.')]), 'dc');
  assert.equal(classify('10.2.2.3', [group('dc', '10.1.'), group('all', '10.')]), 'all');
  assert.equal(classify('10.1.2.3', [group('dc', '10.1.'), group('all', '10.', '10.1.2.')]), 'away');
});
