/** Which hosts an order was for, as the ledger keeps it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { startProgram } from '../../support/program.ts';

const HOSTS = Array.from({ length: 60 }, (_, n) => `db${n} ansible_connection=local`).join('\n');
const INVENTORY = `[web]\nweb1 ansible_connection=local\nweb2 ansible_connection=local\n[db]\n${HOSTS}\n`;

test('The ledger has the limit and the hosts of a command, and a count where they are many', async (t) => {
  const program = await startProgram(t);
  await callLocally(program, 'inventory.add', { name: 'prod', text: INVENTORY });
  const detailOf = async (order: object): Promise<Record<string, unknown>> => {
    const raw = { inventory: 'prod', command: ['df', '-h', 'a-word-of-the-order'], ...order };
    const { job_id: id } = await callLocally<Projected<'job.enqueued'>>(program, 'command.run', raw);
    const rows = await callLocally<Projected<'audit.list'>>(program, 'audit.list', {});
    const row = rows.find(({ operation, target }) => operation === 'command.run' && target === id);
    assert.ok(row !== undefined);
    assert.doesNotMatch(JSON.stringify(row), /a-word-of-the-order/);
    return row.detail;
  };
  assert.deepEqual(await detailOf({ limit: 'web' }), {
    inventory: 'prod',
    limit: 'web',
    hosts: ['web1', 'web2'],
    host_count: 2,
    privileged: false,
  });
  const all = await detailOf({});
  assert.deepEqual([all['host_count'], (all['hosts'] as string[]).length, all['limit']], [62, 50, undefined]);
  assert.deepEqual(await detailOf({ inventory: 'localhost' }), { inventory: 'localhost', privileged: false });
});
