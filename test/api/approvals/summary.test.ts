/** What a job does, in words for the person who decides about it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';
import { rewrite } from '../../support/store/rewrite.ts';

type Listed = Projected<'approval.list'>[number];

const RULE = `when: event.source == "generic"
approval: required
action:
  command: ["true"]
  inventory: localhost
`;

async function pending(fixture: HookFixture): Promise<Listed> {
  const all = (await fixture.call('approval.list', {})) as readonly Listed[];
  assert.ok(all[0] !== undefined);
  return all[0];
}

async function post(hook: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const { status } = await fetch(hook, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'DiskFull', status: 'firing', fingerprint: JSON.stringify(labels), labels }),
  });
  assert.equal(status, 202);
}

describe('The summary of an approval', () => {
  test('is the last field of both views, in the words of its rule, with the event that asked', async (t) => {
    const fixture = await openHookFixture(t);
    const hook = await fixture.hook('generic');
    await fixture.call('rule.add', { name: 'clean-up', text: RULE });
    await post(hook, { instance: 'db1:9100' });
    const bare = await pending(fixture);
    assert.equal(bare.summary, 'run a command on localhost · DiskFull on db1');
    assert.equal(Object.keys(bare).at(-1), 'summary');
    await fixture.call('rule.add', { name: 'clean-up', text: `summary: frees space\n${RULE}`, replace: true });
    await post(hook, { host: 'db2' });
    const said = await pending(fixture);
    assert.equal(said.summary, 'frees space · DiskFull on db2');
    const got = (await fixture.call('approval.get', { id: said.id })) as Projected<'approval.get'>;
    assert.deepEqual(Object.entries(got).at(-1), ['summary', said.summary]);
    assert.equal(Object.keys(JSON.parse(JSON.stringify(got)) as object).at(-2), 'provenance');
  });

  test('is there for a request that an earlier build stored, and when its job or event is gone', async (t) => {
    const fixture = await openHookFixture(t);
    const hook = await fixture.hook('generic');
    await fixture.call('rule.add', { name: 'clean-up', text: `summary: frees space\n${RULE}` });
    await post(hook, { host: 'db2' });
    const { store } = fixture.program;
    await rewrite(store, 'jobs', { privileged: 1, writable: 0 });
    await rewrite(store, 'approvals', { summary: null });
    assert.equal((await pending(fixture)).summary, 'run a command on localhost (unsandboxed) · DiskFull on db2');
    await store.write((tx) => tx.db.deleteFrom('events').execute());
    assert.equal((await pending(fixture)).summary, 'run a command on localhost (unsandboxed)');
  });

  test('names the limit, so that two requests on one inventory can be distinguished', async (t) => {
    const fixture = await openHookFixture(t);
    const hosts = ['web1', 'web2'].map((name) => `${name} ansible_connection=local`).join('\n');
    await fixture.call('inventory.add', { name: 'prod', text: hosts });
    const hook = await fixture.hook('generic');
    const text = RULE.replace('localhost', 'prod\n  limit: "${event.labels.host}"');
    await fixture.call('rule.add', { name: 'clean-up', text });
    await post(hook, { host: 'web1' });
    assert.equal((await pending(fixture)).summary, 'run a command on prod, limit web1 · DiskFull on web1');
    await post(hook, { host: 'web2' });
    assert.equal((await pending(fixture)).summary, 'run a command on prod, limit web2 · DiskFull on web2');
  });

  test('of a command and of a schedule is kept with the order', async (t) => {
    const fixture = await openHookFixture(t);
    const order = { inventory: 'localhost', command: ['true'], summary: 'checks the disks' };
    const { job_id: id } = (await fixture.call('command.run', order)) as Projected<'job.enqueued'>;
    const { db } = fixture.program.store;
    const stored = () => db.selectFrom('jobs').select(['id', 'summary']).orderBy('id').execute();
    assert.deepEqual(
      (await stored()).map((row) => ({ ...row })),
      [{ id, summary: 'checks the disks' }],
    );
    await assert.rejects(
      fixture.call('command.run', { ...order, summary: 'a\nb' }),
      /summary: it has a line break; expected one line of text/,
    );
    await fixture.program.store.write((tx) => tx.db.updateTable('jobs').set({ state: 'interrupted' }).execute());
    await fixture.call('job.redrive', {});
    assert.deepEqual(
      (await stored()).map(({ summary }) => summary),
      ['checks the disks', 'checks the disks'],
    );
    const slot = { name: 'nightly', cron: '0 3 * * *', inventory: 'localhost', command: ['true'] };
    await fixture.call('schedule.add', { ...slot, summary: 'checks the disks' });
    assert.equal(
      (await db.selectFrom('schedules').select('summary').executeTakeFirstOrThrow()).summary,
      'checks the disks',
    );
  });
});
