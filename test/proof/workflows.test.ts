/** Workflows over real daemons: steps in sequence and in parallel, approvals, cancel, resumes and kills. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as app from '../../src/app.ts';
import { Failure } from '../../src/domain/failure.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type Fixture, openFixture } from '../support/fixtures/installation.ts';
import {
  add,
  approvalOf,
  decide,
  ended,
  jobOf,
  requireOneJobEach,
  type Run,
  runIs,
  start,
  states,
  status,
  step,
} from '../support/workflows/fixture.ts';
import { svc } from '../support/terminal.ts';

async function runsAsNeedsSay(fixture: Fixture): Promise<void> {
  await add(fixture, 'order', [
    step('a', 'true'),
    step('b', 'exit 3'),
    step('c', 'true'),
    step('rescue', 'true', '    needs: [b]\n    when: steps.b.state == "failed"\n'),
    step('calm', 'true', '    needs: [a]\n    when: steps.a.state == "failed"\n'),
    step('side', 'true', '    needs: [a]\n'),
  ]);
  const begun = await start(fixture, 'order');
  assert.equal(begun.workflow, 'order');
  const run = await ended(fixture, begun.run_id);
  assert.deepEqual(states(run), {
    a: 'succeeded',
    b: 'failed',
    c: 'skipped',
    rescue: 'succeeded',
    calm: 'skipped',
    side: 'succeeded',
  });
  assert.equal(run.state, 'failed');
  const reasons = Object.fromEntries(run.steps.map(({ name, reason }) => [name, reason]));
  assert.deepEqual([reasons['c'], reasons['calm']], ['the step b is failed', 'its condition is false']);
  const job = await fixture.row(jobOf(run, 'side'));
  assert.deepEqual([job.trigger, job.runbook, job.exit_code], ['workflow', 'command:localhost', 0]);
  await requireOneJobEach(fixture);
}

test('A workflow on PostgreSQL runs its steps as their needs and conditions say', async (t) => {
  const fixture = await openFixture(t, { postgres: true });
  await fixture.start();
  await runsAsNeedsSay(fixture);
});

async function decidedAndCancelled(t: TestContext, fixture: Fixture): Promise<void> {
  await t.test('A change or removal of a workflow does not change its open run', async () => {
    await add(fixture, 'changed', [step('a', 'sleep 1'), step('b', 'echo old')]);
    const { run_id: id } = await start(fixture, 'changed');
    await add(fixture, 'changed', [step('z', 'false')], true);
    await fixture.call('workflow.remove', { name: 'changed' });
    assert.deepEqual(states(await ended(fixture, id)), { a: 'succeeded', b: 'succeeded' });
  });

  await t.test('T28: a step waits for an approval by a third person, and its rejection cancels the run', async () => {
    await add(fixture, 'asks', [step('a', 'true'), step('b', 'true', '    approval: required\n'), step('c', 'true')]);
    const first = await start(fixture, 'asks', [], { name: 'cem', owner: 'cem' });
    const waits = await runIs(fixture, first.run_id, ({ state }) => state === 'awaiting_approval', 'waits');
    const approval = await approvalOf(fixture, jobOf(waits, 'b'));
    assert.equal(approval.origin, 'manual');
    const author = { name: JSON.parse(approval.owners)[1] as string, owner: JSON.parse(approval.owners)[1] as string };
    for (const own of [{ name: 'other token', owner: 'cem' }, author])
      await assert.rejects(decide(fixture, approval.id, 'approve', own), isCode('forbidden'));
    await decide(fixture, approval.id, 'reject');
    const rejected = await ended(fixture, first.run_id);
    assert.deepEqual(
      [rejected.state, states(rejected)],
      ['cancelled', { a: 'succeeded', b: 'cancelled', c: 'cancelled' }],
    );

    const second = await start(fixture, 'asks');
    const again = await runIs(fixture, second.run_id, ({ state }) => state === 'awaiting_approval', 'waits');
    await decide(fixture, (await approvalOf(fixture, jobOf(again, 'b'))).id, 'approve');
    assert.equal((await ended(fixture, second.run_id)).state, 'succeeded');
  });

  await t.test('A cancel ends the steps that wait, are queued, or run', async () => {
    await add(fixture, 'cancelled', [
      step('runs', 'sleep 100'),
      step('asks', 'true', '    needs: []\n    approval: required\n'),
      step('waits', 'true', '    needs: [runs]\n    when: "true"\n'),
    ]);
    const { run_id: id } = await start(fixture, 'cancelled');
    await runIs(fixture, id, (run) => states(run)['runs'] === 'running', 'runs');
    const cancelled = await fixture.call<Run>('workflow.cancel', { run: id });
    assert.deepEqual([states(cancelled)['asks'], states(cancelled)['waits']], ['cancelled', 'cancelled']);
    const run = await ended(fixture, id);
    assert.deepEqual(
      [run.state, states(run)],
      ['cancelled', { runs: 'cancelled', asks: 'cancelled', waits: 'cancelled' }],
    );
    await assert.rejects(fixture.call('workflow.cancel', { run: id }), isCode('conflict'));
  });
}

async function resumedAndRefused(t: TestContext, fixture: Fixture): Promise<void> {
  await t.test('A run from a step takes the results of the others from the last run', async () => {
    await add(fixture, 'rest', [
      step('a', 'true'),
      step('b', 'false'),
      step('c', 'true'),
      step('d', 'true', '    needs: [a]\n'),
    ]);
    await assert.rejects(start(fixture, 'rest', ['b']), isCode('conflict'));
    const first = await ended(fixture, (await start(fixture, 'rest')).run_id);
    await add(
      fixture,
      'rest',
      [step('a', 'true'), step('b', 'true'), step('c', 'true'), step('d', 'true', '    needs: [a]\n')],
      true,
    );
    await assert.rejects(start(fixture, 'rest', ['c']), /would not run: the step b is failed/);
    await assert.rejects(start(fixture, 'rest', ['e']), /there is no step "e"/);
    const second = await ended(fixture, (await start(fixture, 'rest', ['b'])).run_id);
    assert.deepEqual(
      [second.state, states(second)],
      ['succeeded', { a: 'succeeded', b: 'succeeded', c: 'succeeded', d: 'succeeded' }],
    );
    for (const kept of ['a', 'd']) assert.equal(jobOf(second, kept), jobOf(first, kept));
    assert.notEqual(jobOf(second, 'b'), jobOf(first, 'b'));
    await requireOneJobEach(fixture);
    const redriven = await fixture.call<readonly unknown[]>('job.redrive', { state: ['interrupted', 'cancelled'] });
    assert.deepEqual(redriven, [], 'steps are redriven by their workflow');
  });

  await t.test(
    'A step that cannot be queued is failed with its reason, and a start without any job is refused',
    async () => {
      const root = join(fixture.dir, 'net');
      mkdirSync(root);
      await fixture.call('workspace.add', { name: 'net', dir: root });
      await add(fixture, 'refused', [step('a', 'true'), '  - name: b\n    plan: net\n', step('c', 'true')]);
      await fixture.call('workspace.remove', { name: 'net' });
      const run = await ended(fixture, (await start(fixture, 'refused')).run_id);
      assert.deepEqual([run.state, states(run)], ['failed', { a: 'succeeded', b: 'failed', c: 'skipped' }]);
      assert.match(run.steps[1]?.reason ?? '', /no workspace net/);
      await assert.rejects(start(fixture, 'refused', ['b']), isCode('not_found'));
      assert.equal(
        (await fixture.call<Run>('workflow.status', {})).run_id,
        run.run_id,
        'a refused start leaves nothing',
      );
    },
  );
}

async function followed(t: TestContext, fixture: Fixture): Promise<void> {
  await t.test('A run is followed by --wait, whose exit code tells how it ended', async () => {
    const env = { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') };
    const local = (...argv: string[]) => svc(argv, { env, app, clock: systemClock });
    await add(fixture, 'good', [step('a', 'true'), step('b', 'true')]);
    const good = await local('workflow', 'run', 'good', '--wait');
    assert.deepEqual([good.exitCode, /State +succeeded/.test(good.stdout)], [0, true], good.stdout + good.stderr);
    assert.match(good.stderr, /^Waiting for run wfr_\w+\.\n[\s\S]*-- b is succeeded \(job_\w+\)\n$/);
    await add(fixture, 'bad', [step('a', 'exit 7'), step('b', 'true')]);
    const bad = await local('workflow', 'run', 'bad', '--wait', '--output', 'json');
    const { data } = JSON.parse(bad.stdout) as { readonly data: Run };
    assert.deepEqual([bad.exitCode, data.state], [1, 'failed'], bad.stdout);
    assert.match(bad.stderr, /-- b is skipped: the step a is failed\n$/);
    assert.equal((await local('workflow', 'status', data.run_id, '--wait')).exitCode, 1);
    assert.equal((await local('workflow', 'status', data.run_id)).exitCode, 0);
    await add(fixture, 'slow', [step('a', 'sleep 60')]);
    for (const [words, message] of [
      [['--wait', '--timeout', 'soon'], /^Error: --timeout: expected a duration/],
      [['--timeout', '1s'], /^Error: --timeout: expected only with --wait\./],
    ] as const) {
      const refused = await local('workflow', 'run', 'slow', ...words);
      assert.equal(refused.exitCode, 1);
      assert.match(refused.stderr, message);
    }
    const late = await local('workflow', 'run', 'slow', '--wait', '--timeout', '100ms');
    assert.deepEqual([late.exitCode, late.stdout], [7, ''], late.stderr);
    const [, id = ''] = /\nError: Run (wfr_\w+) is still running; it continues\.\n/.exec(late.stderr) ?? [];
    const all = await fixture.store.db
      .selectFrom('workflow_runs')
      .select('id')
      .where('workflow', '=', 'slow')
      .execute();
    assert.deepEqual(
      all.map((each) => each.id),
      [id],
      'a refused start leaves no run',
    );
    await fixture.call('workflow.cancel', { run: id });
    await add(fixture, 'asked', [step('a', 'true', '    approval: required\n')]);
    const asked = await local('workflow', 'run', 'asked', '--wait', '--timeout', '1s');
    const [, waiting = ''] = /^Waiting for run (wfr_\w+)\.$/m.exec(asked.stderr) ?? [];
    const approval = await approvalOf(fixture, jobOf(await status(fixture, waiting), 'a'));
    const command = `\n   Decide with: svc approval approve ${approval.id}\n`;
    assert.ok(asked.stderr.includes(`-- a is awaiting_approval (${approval.job_id})${command}`), asked.stderr);
    await decide(fixture, approval.id, 'reject');
  });
}

test('A workflow on SQLite', async (t) => {
  const fixture = await openFixture(t);
  await fixture.start();

  await t.test('It runs its steps as their needs and conditions say', () => runsAsNeedsSay(fixture));

  await decidedAndCancelled(t, fixture);
  await resumedAndRefused(t, fixture);
  await followed(t, fixture);
});

test('A daemon that is killed in any state of a run loses no step and starts none twice', async (t) => {
  const fixture = await openFixture(t);
  const daemon = await fixture.start();
  const steps = [step('a', 'sleep 0.3'), step('b', 'sleep 0.3', '    approval: required\n'), step('c', 'true')];
  await add(fixture, 'w', steps);

  // While a job runs: that step is interrupted, and the run with it.
  const first = await start(fixture, 'w');
  await add(fixture, 'w', [step('long', 'sleep 100'), step('after', 'true')], true);
  const second = await start(fixture, 'w');
  await runIs(fixture, second.run_id, (run) => states(run)['long'] === 'running', 'runs');
  await runIs(fixture, first.run_id, ({ state }) => state === 'awaiting_approval', 'waits');
  await daemon.kill();

  // Queued while no daemon runs.
  await add(fixture, 'w', [step('x', 'true'), step('y', 'true')], true);
  const third = await start(fixture, 'w');
  assert.equal(states(third)['x'], 'queued');
  const next = await fixture.start();
  const interrupted = await ended(fixture, second.run_id);
  assert.deepEqual(
    [interrupted.state, states(interrupted)],
    ['interrupted', { long: 'interrupted', after: 'skipped' }],
  );
  assert.equal((await ended(fixture, third.run_id)).state, 'succeeded');
  assert.equal((await status(fixture, first.run_id)).state, 'awaiting_approval');
  await next.kill();

  // Approved and cancelled while no daemon runs.
  await decide(fixture, (await approvalOf(fixture, jobOf(await status(fixture, first.run_id), 'b'))).id, 'approve');
  const fourth = await start(fixture, 'w');
  assert.equal((await fixture.call<Run>('workflow.cancel', { run: fourth.run_id })).state, 'cancelled');
  await fixture.start();
  assert.deepEqual(states(await ended(fixture, first.run_id)), { a: 'succeeded', b: 'succeeded', c: 'succeeded' });
  await requireOneJobEach(fixture);
});

function isCode(code: string) {
  return (error: unknown): boolean => error instanceof Failure && error.code === code;
}
