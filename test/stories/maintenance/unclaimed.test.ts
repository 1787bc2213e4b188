/** What `--wait` and the other verbs that wait do while no daemon can take the job, on the machine of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';
import { endsFor, EXIT_BUSY, NO_DAEMON, wait } from '../../support/waits/unclaimed.ts';
import { add, step } from '../../support/workflows/fixture.ts';
import { needs } from '../../support/tools.ts';

const RUN = ['command', 'run', '--inventory', 'localhost', '--wait'];
const TRUE = ['--', '/bin/true'];

test('Each verb that waits ends after 30s without a daemon, and the job stays queued', async (t) => {
  const fixture = await openFixture(t);
  await add(fixture, 'chain', [step('a', 'true'), step('b', 'true')]);
  for (const verb of [
    [...RUN, ...TRUE],
    ['workflow', 'run', 'chain', '--wait'],
  ])
    endsFor(await wait(fixture, ...verb), NO_DAEMON);
  const id = await fixture.queue({ command: ['/bin/true'] });
  for (const verb of ['wait', 'tail']) {
    const ran = await wait(fixture, 'job', verb, id);
    endsFor(ran, NO_DAEMON);
    assert.ok(ran.message.endsWith(` Wait again: svc job wait ${id}. Cancel it: svc job cancel ${id}.`), ran.message);
  }
  assert.equal((await fixture.row(id)).state, 'queued');
});

test(
  'Under a cordon a wait says so and ends; a named daemon that does not run is named',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ args: ['--node-name', 'one'] });
    await fixture.call('maintenance.cordon', { node: 'one' });
    endsFor(await wait(fixture, ...RUN, ...TRUE), /^The daemon "one" is cordoned, so job \S+ stays queued\. /);
    await fixture.call('maintenance.cordon', {});
    const service = await wait(fixture, ...RUN, '--output', 'json', ...TRUE);
    assert.equal(service.exitCode, EXIT_BUSY);
    const { error } = JSON.parse(service.stdout) as {
      readonly error: { readonly code: string; readonly message: string };
    };
    assert.equal(error.code, 'unavailable');
    assert.match(
      error.message,
      /^The service is cordoned, so .*Lift the cordon: svc maintenance uncordon\. Wait again: /,
    );
    await fixture.call('maintenance.uncordon', {});
    await fixture.call('maintenance.uncordon', { node: 'one' });
    const ran = await wait(fixture, ...RUN, ...TRUE);
    assert.equal(ran.exitCode, 0, ran.stderr);
    await daemon.stop();

    await fixture.start({ args: ['--node-name', 'two'] });
    const away = await wait(fixture, ...RUN, '--node', 'one', ...TRUE);
    endsFor(away, /^The daemon "one" does not run, so job \S+ stays queued\. Start it\. /);
  },
);
