/** A job that is queued while a daemon restarts in place, as the one who waits for it sees it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import * as app from '../../../src/app.ts';
import { until } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';
import { hurriedClock, svc } from '../../support/terminal.ts';

const LIMIT_MS = 30_000;

test('--wait continues through a long restart in place, and the new program runs the job', async (t) => {
  const fixture = await openFixture(t);
  const program = copyProgram(join(fixture.dir, 'program'));
  const daemon = await fixture.start({ program: program.main, args: ['--node-name', 'one'] });
  const api = daemon.api(fixture.token);
  const before = await fixture.queue({ command: ['/bin/sleep', '600'] });
  await fixture.waitFor(before, ['running']);
  const restart = async (): Promise<number> => (await api.post('/maintenance/restart', {})).status;
  await until('the daemon knows its program', async () => (await restart()) === 409);
  program.install('0.1.0-next');
  assert.ok((await restart()) < 300);
  const state = async (): Promise<string> => (await api.get<{ state: string }>('/maintenance/restart')).data.state;
  await until('the restart waits for the job', async () => (await state()) === 'draining', 120_000);

  const env = { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') };
  const clock = hurriedClock();
  const startedAt = clock.monotonic();
  const waiting = svc(['command', 'run', '--inventory', 'localhost', '--wait', '--', '/bin/true'], { env, app, clock });
  await until('the wait is longer than one without a daemon', () =>
    Promise.resolve(clock.monotonic() - startedAt > 2 * LIMIT_MS),
  );
  assert.equal((await api.post(`/jobs/${before}/cancel`, {})).status, 200);
  const ran = await waiting;
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.match(ran.stderr, /^The daemon "one" restarts in place, so job \S+ stays queued\. Waiting for it\.$/m);
  assert.equal(ran.stderr.match(/Waiting for it/g)?.length, 1);
});
