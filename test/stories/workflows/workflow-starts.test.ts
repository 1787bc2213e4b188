/** Runs of workflows that rules and schedules start: their events, approvals and ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import type { DaemonHere } from '../../support/daemon-here.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { approvalOf, decide, ended, jobOf, runIs, states, step } from '../../support/workflows/fixture.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';

const ALERT = { name: 'DiskFull', status: 'firing', labels: { unit: 'nginx', host: 'web1' } };

/** A webhook `in`; sends an alert to it and answers the row of its event. */
async function hook(fixture: Fixture) {
  const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'in', source: 'generic' });
  return async (daemon: DaemonHere, alert: object) => {
    const response = await fetch(new URL(new URL(url).pathname, daemon.ready.ingress_url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alert),
    });
    const { data } = (await response.json()) as { data: { events: { event_id: string }[] } };
    const id = data.events[0]?.event_id ?? assert.fail('no event');
    return fixture.store.db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  };
}

async function runOf(fixture: Fixture, jobId: string | null): Promise<string> {
  const row = await fixture.store.db
    .selectFrom('workflow_steps')
    .select('run_id')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return row.run_id;
}

const rule = (action: string, more = ''): string =>
  `when: event.source == "generic" && event.name == "DiskFull"\n${more}action:\n  ${action}\n`;

test(
  'A rule starts a workflow with the values of its event, which every step can read',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const send = await hook(fixture);
    const echo = '  - name: say\n    command: [/bin/echo, "${event.labels.unit}"]\n    inventory: localhost\n';
    const read = step('read', 'grep -c DiskFull "$SVC_EVENT_FILE"; echo "$SVC_LABEL_UNIT"');
    const ask = step('ask', 'true', '    approval: required\n');
    await fixture.call('workflow.add', { name: 'w', text: `steps:\n${echo}${read}${ask}` });
    await fixture.call('rule.add', { name: 'full', text: rule('workflow: w') });
    const daemon = await fixture.serve();
    const event = await send(daemon, ALERT);
    assert.deepEqual([event.outcome, event.rule], ['fired', 'full'], event.reason);
    const id = await runOf(fixture, event.job_id);
    const run = await runIs(fixture, id, ({ state }) => state === 'awaiting_approval', 'waits');
    const output = async (name: string): Promise<string[]> =>
      (await fixture.events(jobOf(run, name))).flatMap((each) =>
        each.type === 'log' && each.stream === 'stdout' ? [each.text] : [],
      );
    assert.deepEqual([await output('say'), await output('read')], [['nginx'], ['1', 'nginx']]);
    const approval = await approvalOf(fixture, jobOf(run, 'ask'));
    assert.deepEqual([approval.origin, approval.alert, approval.rule], ['alert', event.id, 'full']);
    const { summary } = await fixture.call<{ summary: string }>('approval.get', { id: approval.id });
    assert.equal(summary, 'run a command on localhost (step ask of workflow w) · DiskFull on web1');

    // The same alert again, while the run is open: its first job has ended.
    const again = await send(daemon, ALERT);
    assert.deepEqual([again.outcome, again.job_id], ['suppressed', null], again.reason);
    await decide(fixture, approval.id, 'approve');
    assert.equal((await ended(fixture, id)).state, 'succeeded');

    // A value that is not valid: nothing runs.
    const wrong = await send(daemon, { ...ALERT, labels: { unit: '--all' } });
    assert.equal(wrong.outcome, 'error');
    assert.match(wrong.reason, /steps\.say\.command: .*"--all" is not accepted/);
    await assert.rejects(
      fixture.call('workflow.run', { name: 'w' }),
      /steps\.say\.command: .*; no event started this run, so that every field of the event is empty\.$/,
    );
    const runs = await fixture.store.db.selectFrom('workflow_runs').select('id').execute();
    assert.equal(runs.length, 1);
  },
);

test(
  'A rule with an approval lets no step of its workflow run before the decision',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const send = await hook(fixture);
    const steps = [step('a', 'true'), step('b', 'true', '    needs: []\n'), step('c', 'true', '    needs: [a, b]\n')];
    await fixture.call('workflow.add', { name: 'w', text: `steps:\n${steps.join('')}` });
    await fixture.call('rule.add', { name: 'full', text: rule('workflow: w', 'approval: required\n') });
    const event = await send(await fixture.serve(), ALERT);
    assert.equal(event.outcome, 'gated', event.reason);
    const id = await runOf(fixture, event.job_id);
    const run = await runIs(fixture, id, ({ state }) => state === 'awaiting_approval', 'waits');
    assert.deepEqual(states(run), { a: 'awaiting_approval', b: 'awaiting_approval', c: 'waiting' });
    for (const name of ['a', 'b']) await decide(fixture, (await approvalOf(fixture, jobOf(run, name))).id, 'approve');
    assert.equal((await ended(fixture, id)).state, 'succeeded');
  },
);

test('T85: a rejection of a start cancels the run, also steps whose condition wants that', async (t) => {
  const fixture = await openFixture(t);
  const send = await hook(fixture);
  const steps = [
    step('a', 'true'),
    step('b', 'true', '    needs: []\n'),
    step('undo', 'true', '    needs: [a]\n    when: steps.a.state == "cancelled"\n'),
  ];
  await fixture.call('workflow.add', { name: 'w', text: `steps:\n${steps.join('')}` });
  await fixture.call('rule.add', { name: 'full', text: rule('workflow: w', 'approval: required\n') });
  const event = await send(await fixture.serve(), ALERT);
  const id = await runOf(fixture, event.job_id);
  const run = await runIs(fixture, id, ({ state }) => state === 'awaiting_approval', 'waits');
  await decide(fixture, (await approvalOf(fixture, jobOf(run, 'a'))).id, 'reject');
  const end = await ended(fixture, id);
  assert.equal(end.state, 'cancelled');
  assert.deepEqual(states(end), { a: 'cancelled', b: 'cancelled', undo: 'cancelled' });
  assert.equal(end.steps.find(({ name }) => name === 'undo')?.reason, 'the approval of the step a is rejected');
  const ledger = fixture.store.db.selectFrom('ledger').select('detail').where('operation', '=', 'workflow.refuse');
  assert.deepEqual(JSON.parse((await ledger.executeTakeFirstOrThrow()).detail ?? ''), {
    workflow: 'w',
    reason: 'the approval of the step a is rejected',
  });
});

test('The end of a run is an event, and a chain of runs and rules ends as a loop', async (t) => {
  const fixture = await openFixture(t);
  await fixture.call('workflow.add', { name: 'w', text: `steps:\n${step('a', 'false')}${step('b', 'true')}` });
  const when = 'when: event.source == "job-outcome" && event.name == "workflow:w" && event.labels.state == "failed"';
  await fixture.call('rule.add', { name: 'again', text: `${when}\naction:\n  workflow: w\n` });
  await fixture.serve();
  await fixture.call('workflow.run', { name: 'w' });
  const looped = await until('the chain ends', async () => {
    const rows = await fixture.store.db.selectFrom('events').selectAll().where('name', '=', 'workflow:w').execute();
    return rows.some(({ outcome }) => outcome === 'suppressed') ? rows : undefined;
  });
  const outcomes = looped.toSorted((a, b) => a.depth - b.depth).map(({ depth, outcome }) => [depth, outcome]);
  assert.deepEqual(outcomes, [
    [1, 'fired'],
    [2, 'fired'],
    [3, 'fired'],
    [4, 'suppressed'],
  ]);
  const labels = JSON.parse(looped[0]?.labels ?? '{}') as Record<string, string>;
  assert.deepEqual([labels['workflow'], labels['kind'], labels['state']], ['w', 'workflow', 'failed']);
});

test('A schedule starts a workflow, and its approvals have that origin', async (t) => {
  const fixture = await openFixture(t);
  const text = `steps:\n${step('a', 'true', '    approval: required\n')}`;
  await fixture.call('workflow.add', { name: 'w', text });
  await assert.rejects(
    fixture.call('schedule.add', { name: 's', cron: '* * * * *', workflow: 'w', timeout: '5m' }),
    /each of its steps has its own/,
  );
  await assert.rejects(fixture.call('schedule.add', { name: 's', cron: '* * * * *', workflow: 'x' }), /no workflow x/);
  const added = await fixture.call<{ runbook: string }>('schedule.add', {
    name: 's',
    cron: '* * * * *',
    workflow: 'w',
  });
  assert.equal(added.runbook, 'workflow:w');
  await fixture.store.write(async (tx) => void (await tx.db.updateTable('schedules').set({ next_at: 1 }).execute()));
  await fixture.serve();
  const jobId = await until('the slot has a job', async () => {
    const row = await fixture.store.db.selectFrom('schedules').selectAll().executeTakeFirstOrThrow();
    return row.last_job_id ?? undefined;
  });
  const approval = await approvalOf(fixture, jobId);
  assert.deepEqual(
    [approval.origin, approval.schedule, (await fixture.row(jobId)).trigger],
    ['schedule', 's', 'workflow'],
  );
});

test('A step that could not be queued causes one notification', { skip: needs('Landlock ABI 4') }, async (t) => {
  const fixture = await openFixture(t);
  await fixture.call('workflow.add', {
    name: 'w',
    text: `steps:\n${step('a', 'true')}  - name: b\n    command: [x]\n    inventory: localhost\n`,
  });
  const row = await fixture.store.db.selectFrom('workflows').selectAll().executeTakeFirstOrThrow();
  const definition = row.definition.replaceAll(
    '"inventory":"localhost","limit":null',
    '"inventory":"gone","limit":null',
  );
  const mixed = JSON.stringify({ steps: [JSON.parse(row.definition).steps[0], JSON.parse(definition).steps[1]] });
  await rewrite(fixture.store, 'workflows', { definition: mixed });
  await fixture.serve();
  const { run_id: id } = await fixture.call<{ run_id: string }>('workflow.run', { name: 'w' });
  assert.equal((await ended(fixture, id)).state, 'failed');
  const pages = await until('the notification is requested', async () => {
    const rows = await fixture.store.db.selectFrom('pages').selectAll().execute();
    return rows.length > 0 ? rows : undefined;
  });
  assert.deepEqual(
    pages.map(({ kind, topic }) => [kind, topic]),
    [['workflow', `workflow:${id}`]],
  );
});
