/** An inventory or a source asks for the approval of another person for each run. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { insertSource } from '../../../src/store/sources/sources.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { refusal } from '../../support/refusal.ts';

const COMMAND = ['systemctl', 'restart', 'app'];
const HOSTS = 'web1 ansible_connection=local\n';

interface Scene extends HookFixture {
  /** The state of the job that a request leaves. */
  ask(operation: string, raw: object): Promise<string>;
}

async function scene(t: TestContext, setting: object | null = { approve_runs: 'all' }): Promise<Scene> {
  const fixture = await openHookFixture(t);
  const git = { kind: 'git', location: 'ssh://git@127.0.0.1:1/ops', ref: 'main', commit_id: 'c'.repeat(40) } as const;
  for (const name of ['ops', 'other'])
    await fixture.program.store.write((tx) => insertSource(tx, { ...git, name, synced_at: 1, created_at: 1 }));
  await fixture.call('inventory.add', { name: 'prod', text: HOSTS, ...setting });
  return {
    ...fixture,
    async ask(operation, raw) {
      const queued: Projected<'job.enqueued'> = await fixture.call(operation, raw);
      return queued.state;
    },
  };
}

const ofPlaybook = { playbook: 'site.yml', source: 'ops', inventory: 'prod' };
const ofCommand = { inventory: 'prod', command: COMMAND };

describe('Runs on an inventory wait for an approval', () => {
  test('as it says: of none, of commands, or of all but those in check mode', async (t) => {
    const at = await scene(t, null);
    const asked = async () => [
      await at.ask('command.run', ofCommand),
      await at.ask('playbook.run', ofPlaybook),
      await at.ask('playbook.run', { ...ofPlaybook, check: true }),
    ];
    const [free, held] = ['queued', 'awaiting_approval'];
    assert.deepEqual(await asked(), [free, free, free]);
    const set = (setting: object) => at.call('inventory.update', { name: 'prod', ...setting });
    await set({ approve_runs: 'commands' });
    assert.deepEqual(await asked(), [held, free, free]);
    await set({ approve_runs: 'all' });
    assert.deepEqual(await asked(), [held, held, held]);
    await set({ approve_runs: 'all', except_check: true });
    assert.deepEqual(await asked(), [held, held, free]);
    await set({ approve_runs: 'none' });
    assert.deepEqual(await asked(), [free, free, free]);
  });

  test('and who decides sees the words of the caller', async (t) => {
    const at = await scene(t);
    const pending: Projected<'approval.pending'> = await at.call('command.run', ofCommand);
    assert.equal(pending.policy, 'require_approval');
    const order: Projected<'order'> = await at.call('approval.order', { id: pending.approval_id });
    assert.deepEqual(order.command, COMMAND);
  });

  test('also those of a rule that asks for none, with its alert', async (t) => {
    const at = await scene(t);
    const action = 'action:\n  command: [systemctl, restart, app]\n  inventory: prod\n';
    await at.call('rule.add', { name: 'mend', text: `when: event.source == "generic"\n${action}` });
    const { status } = await tell(await at.hook('generic'), { name: 'Down', status: 'firing', fingerprint: 'f' });
    assert.equal(status, 202);
    const [listed] = await at.call<Projected<'approval.list'>>('approval.list', {});
    const { provenance }: Projected<'approval.get'> = await at.call('approval.get', { id: listed?.id });
    assert.deepEqual([provenance.origin, provenance.rule], ['alert', 'mend']);
  });

  test('also those of a step of a workflow, whose run waits with it', async (t) => {
    const at = await scene(t);
    const text = `steps:\n  - {name: one, command: [systemctl, restart, app], inventory: prod}\n`;
    await at.call('workflow.add', { name: 'mend', text });
    const run: Projected<'workflow.status'> = await at.call('workflow.run', { name: 'mend' });
    assert.equal(run.steps[0]?.state, 'awaiting_approval');
  });

  test('also those of a rerun; a redrive leaves them out', async (t) => {
    const at = await scene(t, null);
    const { job_id: id }: Projected<'job.enqueued'> = await at.call('command.run', ofCommand);
    await at.call('job.cancel', { id });
    await at.call('inventory.update', { name: 'prod', approve_runs: 'commands' });
    await assert.rejects(at.call('job.redrive', { ids: [id] }), refusal('conflict'));
    assert.equal(await at.ask('job.rerun', { id }), 'awaiting_approval');
  });

  test('unless they were queued before: those run', async (t) => {
    const at = await scene(t, null);
    const { job_id: id }: Projected<'job.enqueued'> = await at.call('command.run', ofCommand);
    await at.call('inventory.update', { name: 'prod', approve_runs: 'all' });
    assert.equal((await at.call<Projected<'job.get'>>('job.get', { id })).state, 'queued');
  });

  test('after it is replaced too', async (t) => {
    const at = await scene(t);
    await at.call('inventory.add', { name: 'prod', text: `${HOSTS}web2 ansible_connection=local\n`, replace: true });
    const { approve_runs: runs }: Projected<'inventory.get'> = await at.call('inventory.get', { name: 'prod' });
    assert.equal(runs, 'all');
    assert.equal(await at.ask('command.run', ofCommand), 'awaiting_approval');
  });
});

test('Runs on this machine wait where it says so, also if somebody opens its row in the database', async (t) => {
  const at = await scene(t);
  const here = { ...ofCommand, inventory: 'localhost' };
  assert.equal(await at.ask('command.run', here), 'queued');
  await assert.rejects(at.call('inventory.get', { name: 'localhost' }), refusal('not_found'));
  await at.call('inventory.update', { name: 'localhost', approve_runs: 'commands' });
  assert.equal(await at.ask('command.run', here), 'awaiting_approval');
  const shown: Projected<'inventory.get'> = await at.call('inventory.get', { name: 'localhost' });
  assert.deepEqual([shown.name, shown.approve_runs, shown.members.length], ['localhost', 'commands', 1]);
  await at.program.store.write(({ db }) => db.updateTable('gate').set({ localhost_runs: 'none' }).execute());
  assert.equal(await at.ask('command.run', here), 'awaiting_approval');
});

test('Runs of a source wait where it says so, on whatever inventory', async (t) => {
  const at = await scene(t, { approve_runs: 'none' });
  assert.equal(await at.ask('playbook.run', ofPlaybook), 'queued');
  const set: Projected<'source.get'> = await at.call('source.update', { name: 'ops', approve_runs: 'all' });
  assert.equal(set.approve_runs, 'all');
  assert.equal(await at.ask('playbook.run', ofPlaybook), 'awaiting_approval');
  assert.equal(await at.ask('playbook.run', { ...ofPlaybook, source: 'other' }), 'queued');
});

test('T80: an inventory or a source that somebody opens in the database asks for each run', async (t) => {
  const at = await scene(t);
  const { store } = at.program;
  const open = (table: 'inventories' | 'sources') =>
    store.write(({ db }) => db.updateTable(table).set({ approve_runs: 'none' }).execute());
  await open('inventories');
  assert.equal(await at.ask('command.run', ofCommand), 'awaiting_approval');
  await at.call('inventory.add', { name: 'lab', text: HOSTS, approve_runs: 'none' });
  const inLab = { ...ofPlaybook, inventory: 'lab' };
  assert.equal(await at.ask('playbook.run', inLab), 'queued');
  await open('sources');
  await assert.rejects(at.call('playbook.run', inLab), /Integrity: source ops was changed/);
  const step = 'playbook: site.yml, source: ops, inventory: lab';
  await at.call('workflow.add', { name: 'mend', text: `steps:\n  - {name: one, ${step}}\n` });
  const run: Projected<'workflow.status'> = await at.call('workflow.run', { name: 'mend' });
  assert.equal(run.steps[0]?.state, 'awaiting_approval');
});

test('A setting that says nothing or too much is refused, and writes nothing', async (t) => {
  const at = await scene(t, null);
  const refused = (raw: object, message: RegExp, id = 'inventory.update') =>
    assert.rejects(at.call(id, { name: 'prod', ...raw }), message);
  await refused({}, /ssh_key, approve_runs: expected at least one/);
  await refused({ except_check: true }, /except_check: expected with approve_runs all/);
  await refused({ approve_runs: 'commands', except_check: true }, /except_check: expected with approve_runs all/);
  await refused({ approve_runs: 'some' }, /approve_runs: expected one of none, commands, all/);
  await refused({ name: 'localhost', ssh_key: 'agent' }, /ssh_key: not allowed with localhost/);
  await refused({ name: 'gone', approve_runs: 'all' }, /gone/);
  await refused({ approve_runs: 'commands' }, /approve_runs: expected one of none, all/, 'source.update');
  await refused({}, /approve_runs: expected none or all/, 'source.update');
  const shown: Projected<'inventory.get'> = await at.call('inventory.get', { name: 'prod' });
  assert.equal(shown.approve_runs, undefined);
});
