/** In a separate process: with the profiler, what is loaded makes each signal slow. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLauncher, type LaunchRequest } from '../../../src/runners/launch/launch.ts';
import { needs } from '../../support/tools.ts';

describe('the launcher', { skip: needs('Linux') }, () => {
  it('starts tools while the profiler sends its signal to this process', async (t) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-launch-')));
    t.after(() => rmSync(dir, { recursive: true }));
    const launcher = createLauncher();
    const order: LaunchRequest = {
      argv: ['true'],
      env: { PATH: '/usr/bin:/bin', SVC_JOB_ID: 'job_1' },
      cwd: dir,
      policy: { readable: [], writable: [dir], connectPorts: [] },
    };
    const session = new Session();
    session.connect();
    const post = (method: string, params = {}): Promise<void> =>
      new Promise((resolve, reject) => session.post(method, params, (error) => (error ? reject(error) : resolve())));
    await post('Profiler.enable');
    await post('Profiler.setSamplingInterval', { interval: 50 });
    await post('Profiler.start');
    for (let round = 0; round < 10; round += 1) {
      const runs = Array.from({ length: 10 }, () => launcher.launch(order));
      for (const launched of await Promise.all(runs)) assert.equal((await launched.exited).exitCode, 0);
    }
    await post('Profiler.stop');
    session.disconnect();
  });
});
