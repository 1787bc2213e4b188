/** What `--wait` and the other verbs that wait do while no daemon can take the job, on the machine of the service. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import * as app from '../../../src/app.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { hurriedClock, type Ran, svc } from '../../support/terminal.ts';
import { add, step } from '../../support/workflows/fixture.ts';
import { needs } from '../../support/tools.ts';

const EXIT_BUSY = 7;
const LIMIT_MS = 30_000;
const RUN = ['command', 'run', '--inventory', 'localhost', '--wait'];
const TRUE = ['--', '/bin/true'];

interface Waited extends Ran {
  readonly tookMs: number;
  /** The last message, of the failure. */
  readonly message: string;
}

/** A verb of the machine, with a clock on which a wait passes at once. */
async function wait(fixture: Fixture, ...argv: string[]): Promise<Waited> {
  const env = { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') };
  const clock = hurriedClock();
  const startedAt = clock.monotonic();
  const ran = await svc(argv, { env, app, clock });
  const message = /^Error: (.*)$/m.exec(ran.stderr)?.[1] ?? '';
  return { ...ran, message, tookMs: clock.monotonic() - startedAt };
}

function endsFor(ran: Waited, reason: RegExp): void {
  assert.equal(ran.exitCode, EXIT_BUSY, ran.stderr);
  assert.match(ran.message, reason, ran.stderr);
  const cut = ran.message.slice(0, ran.message.indexOf('. ') + 1);
  assert.ok(ran.stderr.includes(`${cut} `) && ran.stderr.includes('Waiting for up to 30s.'), ran.stderr);
  assert.ok(ran.tookMs >= LIMIT_MS);
}

test('Each verb that waits ends after 30s without a daemon, and the job stays queued', async (t) => {
  const fixture = await openFixture(t);
  await add(fixture, 'chain', [step('a', 'true'), step('b', 'true')]);
  const none = /^No daemon runs, so (job job_\w+ stays queued|run wfr_\w+ does not continue)\. Start one: svc serve\. /;
  for (const verb of [
    [...RUN, ...TRUE],
    ['backup', 'create', '--wait'],
    ['workflow', 'run', 'chain', '--wait'],
  ])
    endsFor(await wait(fixture, ...verb), none);
  const id = await fixture.queue({ command: ['/bin/true'] });
  for (const verb of ['wait', 'tail']) {
    const ran = await wait(fixture, 'job', verb, id);
    endsFor(ran, none);
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
