import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readInventory } from '../../../src/domain/inventories/read.ts';
import { requireTargetHosts } from '../../../src/jobs/inventories/targets.ts';
import type { Store } from '../../../src/store/store.ts';
import { listHostKeys } from '../../../src/store/inventories/host-keys.ts';
import {
  deleteInventory,
  getInventory,
  getInventoryRow,
  insertInventory,
  listInventories,
  replaceInventory,
} from '../../../src/store/inventories/inventories.ts';
import { insertRule, type NewRule } from '../../../src/store/rules/rules.ts';
import { rule } from '../../support/fixtures/stored-rule.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const SMALL = await readInventory('[web]\nweb1 ansible_port=2222\nweb2\n');
const OTHER = await readInventory('web2\n');

/** A rule that runs a command on the inventory. */
function newRule(name: string, inventory: string): NewRule {
  return rule(name, { action: { kind: 'command', command: ['true'], inventory, limit: 'web', timeout: null } });
}

function insert(store: Store, name: string, sshKey?: string): Promise<unknown> {
  return store.write((tx) => insertInventory(tx, { name, inventory: SMALL, sshKey }));
}

for (const engine of ENGINES) {
  describe(`Inventories on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('An inventory is read as it was inserted, and listed by name without its hosts', async () => {
      await insert(its.store, 'prod', 'ops/key');
      await insert(its.store, 'dev');
      const listed = await listInventories(its.store.db);
      assert.deepEqual(
        listed.map(({ name, hosts, groups, ssh_key: key }) => ({ name, hosts, groups, key })),
        [
          { name: 'dev', hosts: 2, groups: 1, key: null },
          { name: 'prod', hosts: 2, groups: 1, key: 'ops/key' },
        ],
      );
      assert.ok(listed.every((row) => !('model' in row)));
      assert.deepEqual(await getInventory(its.store.db, 'prod'), SMALL);
      await assert.rejects(getInventory(its.store.db, 'none'), refusal('not_found'));
    });

    test('localhost is there without a row', async () => {
      assert.deepEqual([...(await getInventory(its.store.db, 'localhost')).hosts.keys()], ['localhost']);
      await assert.rejects(getInventoryRow(its.store.db, 'localhost'), refusal('not_found'));
    });

    test('A name is taken once', async () => {
      await insert(its.store, 'prod');
      await assert.rejects(insert(its.store, 'prod'), refusal('duplicate'));
    });

    test('A replaced inventory keeps its key unless another is given, and the keys of hosts that remain', async () => {
      await insert(its.store, 'prod', 'ops/key');
      await its.store.write(async (tx) => {
        for (const host of ['web1', 'web2'])
          await tx.db
            .insertInto('host_keys')
            .values({ inventory: 'prod', host, type: 'ssh-ed25519', key: 'AAAA', added_at: 1, added_by: 'me' })
            .execute();
      });
      const row = await its.store.write((tx) =>
        replaceInventory(tx, { name: 'prod', inventory: OTHER, sshKey: undefined }),
      );
      assert.deepEqual([row?.hosts, row?.ssh_key], [1, 'ops/key']);
      assert.deepEqual(await getInventory(its.store.db, 'prod'), OTHER);
      assert.deepEqual(
        (await listHostKeys(its.store.db, 'prod')).map(({ host }) => host),
        ['web2'],
      );
      const none = { name: 'none', inventory: OTHER, sshKey: undefined };
      assert.equal(await its.store.write((tx) => replaceInventory(tx, none)), undefined);
    });

    test('An inventory that a rule names stays, and the refusal names the rule', async () => {
      await insert(its.store, 'prod');
      await its.store.write((tx) => insertRule(tx, newRule('clean', 'prod')));
      await assert.rejects(
        its.store.write((tx) => deleteInventory(tx, 'prod')),
        (error) => refusal('conflict')(error) && /The rule clean uses inventory prod/.test(String(error)),
      );
      await insert(its.store, 'free');
      await its.store.write((tx) => deleteInventory(tx, 'free'));
      await assert.rejects(
        its.store.write((tx) => deleteInventory(tx, 'free')),
        refusal('not_found'),
      );
    });

    test('Of a removal and a rule that takes the inventory at the same moment, one is refused', async () => {
      const other = await its.database.open();
      for (let round = 0; round < 20; round += 1) {
        const name = `i${round}`;
        await insert(its.store, name);
        const use = other.write(async (tx) => {
          await requireTargetHosts(tx, { inventory: name, limit: 'web' }, () => true);
          await insertRule(tx, newRule(`r${round}`, name));
        });
        const ends = await Promise.allSettled([its.store.write((tx) => deleteInventory(tx, name)), use]);
        assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1, JSON.stringify(ends));
      }
    });
  });
}
