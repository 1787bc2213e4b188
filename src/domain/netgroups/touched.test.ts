import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Netgroup } from './netgroup.ts';
import { touchedGroups } from './touched.ts';

function group(name: string, ...prefixes: string[]): Netgroup {
  return { name, prefixes, excludes: [] };
}

test('T84: a change of prefixes touches the groups that have a part of one, or lie around it, and no others', () => {
  const groups = [
    group('all', '0.0.0.0/0'),
    group('wide', '10.0.0.0/8'),
    group('same', '10.1.0.0/16'),
    group('in', '10.1.2.0/24', '192.0.2.0/24'),
    group('beside', '10.2.0.0/16'),
    group('six', '::/0'),
    group('bad', 'x'),
  ];
  const touched = (prefixes: string[], excludes: string[] = []) => touchedGroups([{ prefixes, excludes }], groups);
  assert.deepEqual(touched(['10.1.0.0/16']), ['all', 'wide', 'same', 'in']);
  assert.deepEqual(touched(['203.0.113.0/24'], ['10.2.9.0/24']), ['all', 'wide', 'beside']);
  assert.deepEqual(touched(['2001:db8::/32']), ['six']);
  assert.deepEqual(touched(['0.0.0.0/0']), ['all', 'wide', 'same', 'in', 'beside']);
});
