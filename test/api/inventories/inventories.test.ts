/** Inventories as the local command line manages them, and what names their hosts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { getEvent } from '../../../src/store/events/events.ts';
import { add as addRule, heard, rule } from '../../support/fixtures/rules.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

type Inventory = Projected<'inventory.get'>;
const HOSTS = '[web]\nweb1 ansible_user=deploy password=hunter2\nweb2:2222\n[all:vars]\nansible_user=admin\n';

function call<T = Inventory>(program: Program, operation: string, raw: object): Promise<T> {
  return callLocally<T>(program, operation, raw);
}

/** Its success has no answer. */
async function remove(program: Program): Promise<void> {
  assert.equal(await call(program, 'inventory.remove', { name: 'prod' }), undefined);
}

const list = (program: Program) => call<Projected<'inventory.list'>>(program, 'inventory.list', {});

describe('An inventory', () => {
  test('is added, listed, shown without its variables, replaced and removed', async (t) => {
    const program = await startProgram(t);
    const added = await call(program, 'inventory.add', { name: 'prod', text: HOSTS });
    assert.deepEqual(added.members, [
      { host: 'web1', address: 'web1', port: 22, user: 'deploy', connection: 'ssh', groups: ['web'], host_keys: [] },
      { host: 'web2', address: 'web2', port: 2222, user: 'admin', connection: 'ssh', groups: ['web'], host_keys: [] },
    ]);
    assert.doesNotMatch(JSON.stringify(added), /hunter2|password/);
    assert.deepEqual(await call(program, 'inventory.get', { name: 'prod' }), added);
    assert.deepEqual(Object.keys((await list(program))[0] ?? {}), [
      'name',
      'hosts',
      'groups',
      'ssh_key',
      'created_at',
      'updated_at',
    ]);
    await assert.rejects(
      call(program, 'inventory.add', { name: 'prod', text: 'a\n' }),
      refusal('duplicate', /^name: .* use --replace to replace it\.$/),
    );
    const replaced = await call(program, 'inventory.add', { name: 'prod', text: 'a\n', replace: true });
    assert.deepEqual([replaced.hosts, replaced.groups, replaced.created_at], [1, 0, added.created_at]);
    await remove(program);
    assert.deepEqual(await list(program), []);
    await assert.rejects(call(program, 'inventory.remove', { name: 'prod' }), refusal('not_found'));
  });

  test('names a secret that there is as the key for its hosts', async (t) => {
    const program = await startProgram(t);
    const order = { name: 'prod', text: HOSTS, ssh_key: 'ops/key' };
    await assert.rejects(
      call(program, 'inventory.add', order),
      refusal('not_found', /^There is no secret ops\/key\.$/),
    );
    assert.deepEqual(await list(program), []);
    await call(program, 'secret.set', { secret: 'ops/key', value: 'x'.repeat(20) });
    assert.equal((await call(program, 'inventory.add', order)).ssh_key, 'ops/key');
  });

  test('called localhost always exists: none can be added, and it cannot be removed', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(call(program, 'inventory.add', { name: 'localhost', text: HOSTS }), refusal('duplicate'));
    await assert.rejects(call(program, 'inventory.remove', { name: 'localhost' }), refusal('conflict'));
    await assert.rejects(
      call(program, 'inventory.get', { name: 'localhost' }),
      refusal('not_found', /^The inventory localhost is the machine of the daemon; it is not stored\.$/),
    );
  });

  test('is checked when a rule names it: its hosts, its groups, and that it is not removed then', async (t) => {
    const program = await startProgram(t);
    await call(program, 'inventory.add', { name: 'prod', text: HOSTS });
    await assert.rejects(
      addRule(program, rule('command: ["df"], inventory: prod, limit: db9')),
      refusal(
        'invalid_argument',
        /^limit: host "db9" is not in inventory "prod"; expected one of its hosts or groups\.$/,
      ),
    );
    await addRule(program, rule('command: ["df"], inventory: prod, limit: "web,!web2"'));
    await assert.rejects(
      call(program, 'inventory.remove', { name: 'prod' }),
      refusal('conflict', /^The rule x uses inventory prod; remove it first\.$/),
    );
  });

  test('T14: has no group that a value of an event can name', async (t) => {
    const program = await startProgram(t);
    await call(program, 'inventory.add', { name: 'prod', text: HOSTS });
    await addRule(program, rule('command: ["df"], inventory: prod, limit: "${event.labels.h}"'));
    const event = await heard(program, { labels: { instance: 'db1', h: 'web' } });
    const { outcome, reason } = await getEvent(program.store.db, event);
    assert.equal(outcome, 'error');
    assert.match(reason ?? '', /limit: host "web" is not in inventory "prod"; expected one of its hosts/);
  });
});
