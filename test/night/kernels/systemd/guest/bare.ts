/** The next boot of the same disk, on a machine without Landlock and without a controller for memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../../../support/api-client.ts';
import { entry, journalSince, openApi, outputOf, property, svc, UNIT, run } from './service.ts';

const START_MS = 120_000;

describe('A machine without Landlock and without a controller for memory', () => {
  test('the service starts with the machine', async () => {
    await until('the service runs', () => property('SubState') === 'running', START_MS);
    assert.equal(run('systemctl', 'is-enabled', UNIT).trim(), 'enabled');
    assert.match(journalSince(0), /sandboxed jobs need Landlock.*sandboxed jobs cannot run here/);
  });

  test('the doctor says what is missing, and every sandboxed job is refused with it', async (t) => {
    const api = openApi();
    const sandbox = await entry(api, 'sandbox');
    t.diagnostic(sandbox.detail);
    assert.equal(sandbox.status, 'fail');
    assert.match(sandbox.detail, /Landlock/);
    assert.match(sandbox.detail, /best effort, because control group \S+ has no controller for memory/);
    const id = await api.run(['true']);
    const { state, exit_code: exitCode } = await api.waitFor(id);
    const { system } = await outputOf(api, id);
    t.diagnostic(system.trim());
    assert.deepEqual([state, exitCode], ['failed', null]);
    assert.match(system, /^The tool never started: .*Landlock/);
    const words = ['command', 'run', '--inventory', 'localhost', '--privileged', '--', 'id', '-un'];
    const job = /job_\w+/.exec(svc(...words))?.[0] ?? assert.fail();
    assert.equal((await api.waitFor(job)).state, 'succeeded');
  });
});
