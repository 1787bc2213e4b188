import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../../test/support/refusal.ts';
import { LOCALHOST_INVENTORY } from './inventory.ts';
import { limitHosts, requireHost } from './limit.ts';
import { readInventory } from './read.ts';

const PROD = await readInventory(
  'alone\n[web]\nweb[1:3]\n[db]\ndb1\nweb3\n[six]\n2001:db8::1\n[prod:children]\nweb\ndb\n',
);
const ALL = ['alone', 'web1', 'web2', 'web3', 'db1', '2001:db8::1'];

function refused(limit: string, message: RegExp): void {
  assert.throws(
    () => limitHosts('prod', PROD, limit),
    (error) => refusal('invalid_argument')(error) && message.test(String(error)),
    limit,
  );
}

describe('A limit', () => {
  test('names hosts and groups, with "," between and "!" before one; the order is that of the inventory', () => {
    for (const [limit, hosts] of [
      [null, ALL],
      ['all', ALL],
      ['web3,web1', ['web1', 'web3']],
      ['db', ['web3', 'db1']],
      ['prod', ['web1', 'web2', 'web3', 'db1']],
      ['prod,!db', ['web1', 'web2']],
      ['!prod', ['alone', '2001:db8::1']],
      ['ungrouped', ['alone']],
      [' web , ! web2 ', ['web1', 'web3']],
      ['!web,web1,db', ['db1']],
      ['2001:db8::1', ['2001:db8::1']],
    ] as const)
      assert.deepEqual(limitHosts('prod', PROD, limit), hosts, String(limit));
  });

  test('that names something else, or leaves nothing, is refused', () => {
    refused('db9', /^Failure: limit: host "db9" is not in inventory "prod"; expected one of its hosts or groups\.$/);
    refused('web1,', /expected a host or a group before and after each ","/);
    refused('', /expected a host or a group/);
    refused('web,!prod', /"web,!prod" selects no host of inventory "prod"/);
    refused('!all', /selects no host/);
    for (const limit of ['web*', 'web?', '~web.*', 'web:&db', '@/etc/passwd', 'web[0]', 'web1/x'])
      refused(limit, /pattern/);
    for (const limit of ['-v', '--limit', 'WEB1', 'localhost']) refused(limit, /is not in inventory/);
  });

  test('on localhost is localhost', () => {
    for (const limit of [null, 'all', 'localhost', 'ungrouped'])
      assert.deepEqual(limitHosts('localhost', LOCALHOST_INVENTORY, limit), ['localhost']);
    assert.throws(() => limitHosts('localhost', LOCALHOST_INVENTORY, 'web1'), /expected localhost\.$/);
  });

  test('T14: of an event is one host, never a group of that name', () => {
    requireHost('prod', PROD, 'web1');
    for (const limit of ['web', 'all', 'web1,web2', '!web1'])
      assert.throws(() => requireHost('prod', PROD, limit), refusal('invalid_argument'));
  });
});
