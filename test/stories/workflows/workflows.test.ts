/** Workflows over real daemons: steps in sequence and in parallel, approvals, cancel, resumes and kills. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
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
} from '../../support/workflows/fixture.ts';

async function withDaemon(t: TestContext, options: { readonly postgres?: boolean } = {}) {
  const fixture = await openFixture(t, options);
  return { fixture, daemon: await fixture.start() };
}

for (const postgres of [false, true]) {
  const database = postgres ? 'PostgreSQL' : 'SQLite';

  test(
    `A workflow runs its steps as their needs and conditions say, on ${database}`,
    { timeout: 120_000 },
    async (t) => {
      const { fixture } = await withDaemon(t, { postgres });
      await add(fixture, [
        step('a', 'true'),
        step('b', 'exit 3'),
        step('c', 'true'),
        step('rescue', 'true', '    needs: [b]\n    when: steps.b.state == "failed"\n'),
        step('calm', 'true', '    needs: [a]\n    when: steps.a.state == "failed"\n'),
        step('side', 'true', '    needs: [a]\n'),
      ]);
      const begun = await start(fixture);
      assert.equal(begun.workflow, 'w');
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
    },
  );
}

test('A change or removal of a workflow does not change its open run', { timeout: 120_000 }, async (t) => {
  const { fixture } = await withDaemon(t);
  await add(fixture, [step('a', 'sleep 1'), step('b', 'echo old')]);
  const { run_id: id } = await start(fixture);
  await add(fixture, [step('z', 'false')], true);
  await fixture.call('workflow.remove', { name: 'w' });
  assert.deepEqual(states(await ended(fixture, id)), { a: 'succeeded', b: 'succeeded' });
});

test(
  'T28: a step waits for an approval by a third person, and its rejection cancels the run',
  { timeout: 120_000 },
  async (t) => {
    const { fixture } = await withDaemon(t);
    await add(fixture, [step('a', 'true'), step('b', 'true', '    approval: required\n'), step('c', 'true')]);
    const first = await start(fixture, [], { name: 'cem', owner: 'cem' });
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
      ['cancelled', { a: 'succeeded', b: 'cancelled', c: 'skipped' }],
    );

    const second = await start(fixture);
    const again = await runIs(fixture, second.run_id, ({ state }) => state === 'awaiting_approval', 'waits');
    await decide(fixture, (await approvalOf(fixture, jobOf(again, 'b'))).id, 'approve');
    assert.equal((await ended(fixture, second.run_id)).state, 'succeeded');
  },
);

test('A cancel ends the steps that wait, are queued, or run', { timeout: 120_000 }, async (t) => {
  const { fixture } = await withDaemon(t);
  await add(fixture, [
    step('runs', 'sleep 100'),
    step('asks', 'true', '    needs: []\n    approval: required\n'),
    step('waits', 'true', '    needs: [runs]\n    when: "true"\n'),
  ]);
  const { run_id: id } = await start(fixture);
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

test('A run from a step takes the results of the others from the last run', { timeout: 120_000 }, async (t) => {
  const { fixture } = await withDaemon(t);
  await add(fixture, [step('a', 'true'), step('b', 'false'), step('c', 'true'), step('d', 'true', '    needs: [a]\n')]);
  await assert.rejects(start(fixture, ['b']), isCode('conflict'));
  const first = await ended(fixture, (await start(fixture)).run_id);
  await add(
    fixture,
    [step('a', 'true'), step('b', 'true'), step('c', 'true'), step('d', 'true', '    needs: [a]\n')],
    true,
  );
  await assert.rejects(start(fixture, ['c']), /would not run: the step b is failed/);
  await assert.rejects(start(fixture, ['e']), /there is no step "e"/);
  const second = await ended(fixture, (await start(fixture, ['b'])).run_id);
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

test(
  'A step that cannot be queued is failed with its reason, and a start without any job is refused',
  { timeout: 120_000 },
  async (t) => {
    const { fixture } = await withDaemon(t);
    const root = join(fixture.dir, 'net');
    mkdirSync(root);
    await fixture.call('workspace.add', { name: 'net', dir: root });
    await add(fixture, [step('a', 'true'), '  - name: b\n    plan: net\n', step('c', 'true')]);
    await fixture.call('workspace.remove', { name: 'net' });
    const run = await ended(fixture, (await start(fixture)).run_id);
    assert.deepEqual([run.state, states(run)], ['failed', { a: 'succeeded', b: 'failed', c: 'skipped' }]);
    assert.match(run.steps[1]?.reason ?? '', /no workspace net/);
    await assert.rejects(start(fixture, ['b']), isCode('not_found'));
    assert.equal((await fixture.call<Run>('workflow.status', {})).run_id, run.run_id, 'a refused start leaves nothing');
  },
);

test(
  'A daemon that is killed in any state of a run loses no step and starts none twice',
  { timeout: 240_000 },
  async (t) => {
    const { fixture, daemon } = await withDaemon(t);
    const steps = [step('a', 'sleep 0.3'), step('b', 'sleep 0.3', '    approval: required\n'), step('c', 'true')];
    await add(fixture, steps);

    // While a job runs: that step is interrupted, and the run with it.
    const first = await start(fixture);
    await add(fixture, [step('long', 'sleep 100'), step('after', 'true')], true);
    const second = await start(fixture);
    await runIs(fixture, second.run_id, (run) => states(run)['long'] === 'running', 'runs');
    await runIs(fixture, first.run_id, ({ state }) => state === 'awaiting_approval', 'waits');
    await daemon.kill();

    // Queued while no daemon runs.
    await add(fixture, [step('x', 'true'), step('y', 'true')], true);
    const third = await start(fixture);
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
    const fourth = await start(fixture);
    assert.equal((await fixture.call<Run>('workflow.cancel', { run: fourth.run_id })).state, 'cancelled');
    await fixture.start();
    assert.deepEqual(states(await ended(fixture, first.run_id)), { a: 'succeeded', b: 'succeeded', c: 'succeeded' });
    await requireOneJobEach(fixture);
  },
);

function isCode(code: string) {
  return (error: unknown): boolean => error instanceof Failure && error.code === code;
}
