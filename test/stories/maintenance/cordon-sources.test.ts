/** T32: whatever asks for a job while the service is cordoned, nothing starts. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Api, until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { callTool, outcomeOf } from '../../support/mcp/rpc.ts';
import { add, approvalOf, decide, start } from '../../support/workflows/fixture.ts';
import { needs } from '../../support/tools.ts';

const COMMAND = { inventory: 'localhost', command: ['/bin/true'] };
const ALERT = { name: 'DiskFull', status: 'firing' };
const RULE = `when: event.name == "DiskFull"\naction:\n  command: [/bin/true]\n  inventory: localhost\n`;
const SCHEDULE = { name: 'nightly', cron: '0 3 1 1 *', ...COMMAND };

/** Makes the slot of the schedule due, and waits until it is taken. */
async function fallDue({ store }: Fixture): Promise<void> {
  await store.write((tx) => tx.db.updateTable('schedules').set({ next_at: tx.now }).execute());
  const row = store.db.selectFrom('schedules').select('last_job_id').where('last_job_id', 'is not', null);
  await until('the slot is taken', () => row.executeTakeFirst());
}

async function interruptedJob(fixture: Fixture): Promise<string> {
  const id = await fixture.queue({ command: ['/bin/true'] });
  await fixture.store.write((tx) =>
    tx.db.updateTable('jobs').set({ state: 'interrupted', finished_at: tx.now }).where('id', '=', id).execute(),
  );
  return id;
}

/** What webhooks and hosts send is recorded, and makes no job. */
async function sentEvents(fixture: Fixture, api: Api, hook: string): Promise<void> {
  const answer = await fetch(hook, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ALERT),
  });
  assert.equal(answer.status, 202);
  const host = await fixture.call<{ token: string }>('token.create', { name: 'web1', scope: 'host' });
  const { status } = await api.post(
    '/hosts/self/requests',
    { request: ALERT.name },
    { authorization: `Bearer ${host.token}` },
  );
  assert.equal(status, 200);
  const sent = fixture.store.db.selectFrom('events').select(['outcome', 'reason', 'job_id']);
  const events = await sent.where('source', '!=', 'job-outcome').execute();
  assert.deepEqual(
    events.map(({ outcome, job_id: job }) => [outcome, job]),
    [
      ['suppressed', null],
      ['suppressed', null],
    ],
  );
  for (const { reason } of events) assert.match(reason, /cordoned/);
}

test(
  'T32: under a cordon ten sources start nothing; afterwards what was queued runs once',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const dir = join(fixture.dir, 'root');
    mkdirSync(dir);
    writeFileSync(join(dir, 'main.tf'), '');
    await fixture.call('workspace.add', { name: 'net', dir });
    await fixture.call('rule.add', { name: 'full', text: RULE });
    await fixture.call('schedule.add', SCHEDULE);
    const hook = await fixture.call<{ url: string }>('webhook.add', { name: 'in', source: 'generic' });
    await add(fixture, 'w', ['  - name: one\n    command: [/bin/true]\n    inventory: localhost\n']);
    await add(fixture, 'gated', [
      '  - name: ask\n    command: [/bin/true]\n    inventory: localhost\n    approval: required\n',
    ]);
    const daemon = await fixture.serve();
    const api = daemon.api(fixture.token);
    const old = await api.run(['/bin/true']);
    await api.waitFor(old);
    const gated = await start(fixture, 'gated');
    const waiting = gated.steps[0]?.job_id ?? assert.fail('no job waits for approval');

    assert.equal((await api.post('/maintenance/cordon')).status, 200);
    await api.run(['/bin/true']);
    await fixture.call('command.run', COMMAND);
    const tool = await callTool({ url: daemon.ready.web_url }, fixture.token, 'workspace_plan', { name: 'net' });
    assert.equal(outcomeOf(tool), 'job.enqueued');
    await fallDue(fixture);
    await fixture.call('job.redrive', { ids: [await interruptedJob(fixture)] });
    assert.equal((await api.post(`/jobs/${old}/rerun`)).status, 202);
    await start(fixture, 'w');
    await decide(fixture, (await approvalOf(fixture, waiting)).id, 'approve');
    await sentEvents(fixture, api, new URL(new URL(hook.url).pathname, daemon.ready.ingress_url).href);

    // A daemon that starts now claims nothing either.
    const second = await fixture.serve();
    const readiness = await second.api(fixture.token).get('/maintenance/readiness');
    assert.deepEqual(readiness.data, { cordoned: true, in_flight: 0, safe_to_reboot: true, running: [] });
    const jobs = await fixture.store.db.selectFrom('jobs').select(['id', 'kind', 'state', 'started_at']).execute();
    const queued = jobs.filter(({ state }) => state === 'queued');
    assert.equal(queued.length, 8);
    assert.deepEqual(
      queued.filter(({ started_at: at }) => at !== null),
      [],
    );
    assert.deepEqual(
      jobs.filter(({ state }) => !['queued', 'interrupted', 'succeeded'].includes(state)),
      [],
    );

    assert.equal((await api.post('/maintenance/uncordon')).status, 200);
    for (const { id, kind } of queued) {
      const { state } = await api.waitFor(id);
      if (kind === 'command') assert.equal(state, 'succeeded');
    }
  },
);
