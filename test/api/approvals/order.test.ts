/** What is ordered, for who decides about it and for who looks back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REDACTED } from '../../../src/domain/secrets/redaction.ts';
import { askFirst } from '../../../src/jobs/queue.ts';
import { fromJson } from '../../../src/lib/json.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';
import { makeJob } from '../../store/engine-fixture.ts';
import { tamper } from '../../support/store/rewrite.ts';

type Order = Projected<'order'>;

const HOSTS = ['web1', 'web2', 'db1', 'db2', 'db3'].map((name) => `${name} ansible_connection=local`);
const INVENTORY = `[web]\n${HOSTS.slice(0, 2).join('\n')}\n[db]\n${HOSTS.slice(2).join('\n')}\n`;

function rule(action: string): string {
  return `when: event.source == "generic"\napproval: required\nsummary: frees space\naction:\n${action}`;
}

const COMMAND = rule(`  command: ["find", "/srv/cache", "-name", "\${event.labels.kind}", "-delete"]
  inventory: prod
  limit: web
  egress_ports: [443]
`);

function step(name: string, more = ''): string {
  return `  - name: ${name}
    approval: required
    needs: []
    command: ["true"]
    inventory: prod
${more}`;
}

async function opened(t: Parameters<typeof openHookFixture>[0]): Promise<HookFixture> {
  const fixture = await openHookFixture(t);
  await fixture.call('inventory.add', { name: 'prod', text: INVENTORY });
  return fixture;
}

async function post(
  fixture: HookFixture,
  hook: string,
  more: object = {},
): Promise<Projected<'approval.list'>[number]> {
  const annotations = { summary: 'disk 95 % full', description: 'of\n100 GB', runbook_url: 'https://wiki.invalid' };
  const labels = { host: 'web1', kind: 'tmp', severity: 'warning' };
  const event = { name: 'DiskFull', status: 'firing', severity: 'warning', labels, annotations, ...more };
  const { status } = await fetch(hook, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...event, fingerprint: JSON.stringify(more) }),
  });
  assert.equal(status, 202);
  const [newest] = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
  assert.ok(newest !== undefined);
  return newest;
}

async function orderOf(fixture: HookFixture, operation: string, id: string): Promise<Order> {
  return (await fixture.call(operation, { id })) as Order;
}

describe('The order', () => {
  test('of a rule has its words with the values of the event, its hosts, and the alert', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: COMMAND });
    const approval = await post(fixture, await fixture.hook('generic'));
    const order = await orderOf(fixture, 'approval.order', approval.id);
    assert.deepEqual(order, {
      job_id: approval.job_id,
      kind: 'command',
      inventory: 'prod',
      hosts: { count: 2, names: ['web1', 'web2'] },
      limit: 'web',
      tags: null,
      skip_tags: null,
      command: ['find', '/srv/cache', '-name', 'tmp', '-delete'],
      playbook: null,
      source: null,
      source_commit: null,
      path: null,
      extra_vars: null,
      secrets: null,
      changes: null,
      privileged: false,
      writable: null,
      egress_ports: [443],
      timeout: '1h',
      summary: 'frees space',
      because: null,
      schedule: null,
      alert: {
        name: 'DiskFull',
        status: 'firing',
        severity: 'warning',
        host: 'web1',
        sender_text: { summary: 'disk 95 % full', description: 'of 100 GB' },
      },
      step: null,
    });
    assert.deepEqual(await orderOf(fixture, 'job.order', approval.job_id), order);
    const rows = (await fixture.call('audit.list', {})) as Projected<'audit.list'>;
    const read = rows.filter(({ operation }) => operation.endsWith('.order'));
    assert.deepEqual(
      read.map(({ operation, target, detail }) => ({ operation, target, detail })),
      [
        { operation: 'job.order', target: approval.job_id, detail: {} },
        { operation: 'approval.order', target: approval.id, detail: {} },
      ],
    );
  });

  test('hides a secret that was stored, or changed, after it was read', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: COMMAND });
    const { id } = await post(fixture, await fixture.hook('generic'));
    const words = async () => (await orderOf(fixture, 'approval.order', id)).command?.slice(1, 4);
    assert.deepEqual(await words(), ['/srv/cache', '-name', 'tmp']);
    await fixture.call('secret.set', { secret: 'net/token', value: '/srv/cache' });
    assert.deepEqual(await words(), [REDACTED, '-name', 'tmp']);
    await fixture.call('secret.set', { secret: 'net/token', value: '-name' });
    assert.deepEqual(await words(), ['/srv/cache', REDACTED, 'tmp']);
    await fixture.call('secret.remove', { secret: 'net/token' });
    assert.deepEqual(await words(), ['/srv/cache', '-name', 'tmp']);
  });

  test('of a caller has no word of its command, and what it names', async (t) => {
    const fixture = await opened(t);
    const raw = { inventory: 'prod', limit: 'db1', command: ['a-word-of-the-order'], because: 'OPS-211' };
    const { job_id: id } = (await fixture.call('command.run', raw)) as Projected<'job.enqueued'>;
    const order = await orderOf(fixture, 'job.order', id);
    assert.deepEqual(
      [order.command, order.limit, order.hosts, order.because],
      [null, 'db1', { count: 1, names: ['db1'] }, 'OPS-211'],
    );
    assert.doesNotMatch(JSON.stringify(order), /a-word/);
    await fixture.call('job.cancel', { id });
    const { job_id: again } = (await fixture.call('job.rerun', { id })) as Projected<'job.enqueued'>;
    assert.equal((await orderOf(fixture, 'job.order', again)).command, null);
  });

  test('that repeats the order of a rule keeps its words', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: COMMAND });
    const { job_id: id } = await post(fixture, await fixture.hook('generic'));
    await fixture.call('job.cancel', { id });
    const again = (await fixture.call('job.rerun', { id })) as Projected<'approval.pending'>;
    const order = await orderOf(fixture, 'approval.order', again.approval_id);
    assert.deepEqual([order.command?.[0], order.alert?.name], ['find', 'DiskFull']);
  });

  test('with reveal: false has no words, of a rule, a schedule and a step', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: `${COMMAND}  reveal: false\n` });
    const asked = await post(fixture, await fixture.hook('generic'));
    const order = await orderOf(fixture, 'approval.order', asked.id);
    assert.deepEqual([order.command, order.hosts?.count, order.alert?.name], [null, 2, 'DiskFull']);
    const slot = { name: 'nightly', cron: '0 3 * * *', approval: 'required', inventory: 'prod', command: ['true'] };
    await fixture.call('schedule.add', { ...slot, reveal: false });
    const { action } = await fixture.program.store.db
      .selectFrom('schedules')
      .select('action')
      .executeTakeFirstOrThrow();
    assert.equal((fromJson(action) as { reveal?: boolean }).reveal, false);
    await fixture.call('workflow.add', {
      name: 'two',
      text: `steps:\n${step('shown')}${step('hidden', '    reveal: false\n')}`,
    });
    await fixture.call('workflow.run', { name: 'two' });
    const all = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
    for (const name of ['shown', 'hidden']) {
      const of = all.find(({ summary }) => summary.includes(`step ${name} `));
      const { command } = await orderOf(fixture, 'approval.order', of?.id ?? '');
      assert.deepEqual(command, name === 'shown' ? ['true'] : null, name);
    }
    await assert.rejects(
      fixture.call('schedule.add', { name: 'b', cron: '0 3 * * *', plan: 'net', reveal: false }),
      /reveal: allowed only with a command or a playbook/,
    );
  });

  test('of a schedule names it', async (t) => {
    const fixture = await opened(t);
    const job = makeJob({ trigger: 'schedule', summary: 'clear the cache' });
    const gate = { origin: 'schedule', schedule: 'nightly', ttlMs: 60_000 } as const;
    const deps = { approvalTtlMs: 60_000, wake: () => undefined };
    await fixture.program.store.write((tx) => askFirst({ tx, deps }, job, gate));
    const { schedule, summary } = await orderOf(fixture, 'job.order', job.id);
    assert.deepEqual([schedule, summary], ['nightly', 'clear the cache']);
  });

  test('of a step names its run, and the steps before it that did not succeed', async (t) => {
    const fixture = await opened(t);
    await fixture.call('workflow.add', { name: 'two', text: `steps:\n${step('first')}${step('second')}` });
    const { run_id: run } = (await fixture.call('workflow.run', { name: 'two' })) as Projected<'workflow.status'>;
    const of = async (name: string): Promise<Order['step']> => {
      const all = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
      const approval = all.find(({ summary }) => summary.includes(`step ${name} `));
      return (await orderOf(fixture, 'approval.order', approval?.id ?? '')).step;
    };
    const second = { run_id: run, workflow: 'two', name: 'second' };
    assert.deepEqual(await of('second'), { ...second, failed_before: [] });
    const { job_id: first } = (await fixture.program.store.db
      .selectFrom('workflow_steps')
      .select('job_id')
      .where('name', '=', 'first')
      .executeTakeFirstOrThrow()) as { job_id: string };
    await fixture.call('job.cancel', { id: first });
    assert.deepEqual(await of('second'), { ...second, failed_before: [{ name: 'first', state: 'cancelled' }] });
  });

  test('whose limit selects no host any more cannot be approved, and can be rejected', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: COMMAND });
    const { id } = await post(fixture, await fixture.hook('generic'));
    const token = await fixture.program.token('approve', { name: 'phone', owner: 'ben' });
    await fixture.call('inventory.add', { name: 'prod', text: HOSTS.slice(2).join('\n'), replace: true });
    assert.deepEqual((await orderOf(fixture, 'approval.order', id)).hosts, { count: 0, names: [] });
    const decide = async (decision: string): Promise<number> => {
      const response = await fetch(`${fixture.program.url}/api/v1/approvals/${id}/decision`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision }),
      });
      await response.arrayBuffer();
      return response.status;
    };
    assert.deepEqual([await decide('approve'), await decide('reject')], [409, 200]);
  });

  test('of 10,000 hosts has the first 200 and a count', async (t) => {
    const fixture = await openHookFixture(t);
    const text = Array.from({ length: 10_000 }, (_, n) => `host${n} ansible_connection=local`).join('\n');
    await fixture.call('inventory.add', { name: 'many', text });
    const raw = { inventory: 'many', command: ['true'] };
    const { job_id: id } = (await fixture.call('command.run', raw)) as Projected<'job.enqueued'>;
    const { hosts } = await orderOf(fixture, 'job.order', id);
    assert.deepEqual([hosts?.count, hosts?.names.length, hosts?.names[199]], [10_000, 200, 'host199']);
  });

  test('of a job that somebody changed in the database is not shown', async (t) => {
    const fixture = await opened(t);
    await fixture.call('rule.add', { name: 'clean', text: COMMAND });
    const { id, job_id: jobId } = await post(fixture, await fixture.hook('generic'));
    const { spec } = await fixture.program.store.db.selectFrom('jobs').select('spec').executeTakeFirstOrThrow();
    await tamper(fixture.program.store, 'jobs', jobId, { spec: spec.replace('-delete', '-print') });
    await assert.rejects(orderOf(fixture, 'approval.order', id), { code: 'conflict' });
    await assert.rejects(orderOf(fixture, 'job.order', jobId), { code: 'conflict' });
  });
});
