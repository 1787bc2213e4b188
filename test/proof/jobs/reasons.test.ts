/** Why jobs did not succeed: with the job, and where the sandbox may be the cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';

const SHELL = (script: string) => ({ command: ['/bin/sh', '-c', script], privileged: false });

interface Shown {
  readonly reason: string | null;
  readonly rerun_of: string | null;
  readonly started_at: string;
  readonly finished_at: string;
}

test('a job says why it failed, and names the options where the sandbox may be the cause', async (t) => {
  const fixture = await openFixture(t);
  await fixture.start();
  const shown = async (id: string) => fixture.call<Shown>('job.get', { id });
  const reasonOf = async (job: Parameters<typeof fixture.queue>[0]) => {
    const id = await fixture.queue(job);
    await fixture.waitFor(id, ['failed']);
    return (await shown(id)).reason;
  };
  assert.equal(await reasonOf(SHELL('exit 3')), 'The program ended with exit code 3.');
  assert.equal(await reasonOf(SHELL('kill -9 $$')), 'The program ended with exit code 137 (signal 9).');
  assert.equal(
    await reasonOf({ ...SHELL('sleep 60'), timeoutMs: 100 }),
    'The job reached its time-out and was stopped.',
  );
  const refused = await fixture.queue(SHELL('touch /var/tmp/gatehouse-is-refused'));
  await fixture.waitFor(refused, ['failed']);
  const lines = (await fixture.events(refused)).flatMap((event) => (event.type === 'log' ? [event] : []));
  assert.match(lines.at(-2)?.text ?? '', /Permission denied/);
  assert.deepEqual([lines.at(-1)?.stream, lines.at(-1)?.text], ['system', (await shown(refused)).reason]);
  assert.match(lines.at(-1)?.text ?? '', /sandbox may be the cause.*writable, egress_ports and privileged/);

  const good = await fixture.queue(SHELL('echo Permission denied'));
  await fixture.waitFor(good, ['succeeded']);
  assert.equal((await shown(good)).reason, null);
});

test('a cancelled job names who cancelled it, and an interrupted one ends when its daemon was last seen', async (t) => {
  const fixture = await openFixture(t);
  const daemon = await fixture.start();
  const [stopped, orphan] = await Promise.all([0, 1].map(() => fixture.queue(SHELL('sleep 60'))));
  for (const id of [stopped!, orphan!]) await fixture.waitFor(id, ['running']);
  await fixture.call('job.cancel', { id: stopped });
  await fixture.waitFor(stopped!, ['cancelled']);
  assert.match(
    (await fixture.call<Shown>('job.get', { id: stopped })).reason ?? '',
    /^Cancelled by local:.* via cli\.$/,
  );
  await daemon.kill();
  const deadAt = Date.now();
  // Long enough to be seen in the duration.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await fixture.start();
  await fixture.waitFor(orphan!, ['interrupted']);
  const shown = await fixture.call<Shown>('job.get', { id: orphan });
  assert.match(shown.reason ?? '', /^The daemon .+ ended while it ran the job\.$/);
  assert.ok(Date.parse(shown.finished_at) <= deadAt, `${shown.finished_at} is after the end of the daemon`);
  assert.ok(shown.finished_at >= shown.started_at);
});

test('a privileged job is run again on the machine, and is tagged', async (t) => {
  const fixture = await openFixture(t);
  await fixture.start();
  const first = await fixture.queue({ command: ['/bin/echo', 'again'], privileged: true });
  await fixture.waitFor(first, ['succeeded']);
  const { job_id: second } = await fixture.call<{ job_id: string }>('job.rerun', { id: first });
  await fixture.waitFor(second, ['succeeded']);
  assert.equal((await fixture.call<Shown>('job.get', { id: second })).rerun_of, first);
});
