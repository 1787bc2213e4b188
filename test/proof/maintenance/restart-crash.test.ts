/** F27 and T33: a new program that works in its trial and not as a daemon, and one that another user owns. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type Api, type ApiAnswer, until } from '../../support/api-client.ts';
import { NotReady } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';
import { needs } from '../../support/tools.ts';

interface Restart {
  readonly state: string;
  readonly cordoned: boolean;
  readonly reason: string | null;
}

interface Ended {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

const NO_ROOT = needs('root');
const ANOTHER_USER = 4242;
/** A trial starts the program three times, and the daemon reads all files of it three times. */
const RESTART_LIMIT_MS = 120_000;
/** Ends a daemon as long as the file is there, and no trial. */
const crash = (file: string): string => `
const { argv } = process;
const isDaemon = argv.includes('serve') && !argv.includes('--help');
if (isDaemon && process.getBuiltinModule('node:fs').existsSync(${JSON.stringify(file)}))
  throw new Error('the new program does not serve');
`;

const status = async (api: Api): Promise<Restart> => (await api.get<Restart>('/maintenance/restart')).data;

/** Asks until the daemon knows what it runs. */
function ask(api: Api): Promise<ApiAnswer<Restart>> {
  return until('the daemon knows its program', async () => {
    const answer = await api.post<Restart>('/maintenance/restart', {});
    return answer.status === 503 ? undefined : answer;
  });
}

describe('a restart in place to a bad program', () => {
  test('F27: it crashes after the execution: what went wrong is said at once, and a later start ends it', async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main });
    const api = daemon.api(fixture.token);
    assert.equal((await ask(api)).status, 409);
    program.install('0.1.0-next');
    const broken = join(fixture.dir, 'broken');
    writeFileSync(broken, '');
    writeFileSync(program.main, crash(broken) + readFileSync(program.main, 'utf8'));
    const files = ['--data-dir', daemon.ready.data_dir, '--seal-key-file', join(fixture.dir, 'seal.key')];
    const verb = (name: string): Promise<Ended> => {
      const words = [program.main, ...name.split(' '), ...files, '--output', 'json'];
      return promisify(execFile)(process.execPath, words).catch((error: Ended) => error);
    };
    // Trial, drain and execution succeed; the process ends with the error of the new program in its log.
    const waited = await verb('maintenance restart --wait');
    assert.equal(await daemon.exited, 1);
    assert.match(daemon.log(), /the new program does not serve/);
    assert.equal(waited.code, 5);
    assert.match(waited.stdout + waited.stderr, /aborted: the new program ended before it was ready; its error is in/);
    const { stdout: shown } = await verb('maintenance restart-status');
    const { state, reason } = JSON.parse(shown).data as Restart;
    assert.deepEqual(
      [state, /ended before it was ready; its error is in the log/.test(reason ?? '')],
      ['aborted', true],
    );
    assert.match((await verb('doctor')).stdout, /Restart in place of \S+: the new program ended before it was ready/);
    // A service manager starts it again, and it fails again, which changes nothing.
    await assert.rejects(fixture.start({ program: program.main }), (error: unknown) => {
      assert.ok(error instanceof NotReady);
      assert.match(error.refusal.stderr, /the new program does not serve/);
      return true;
    });
    rmSync(broken);
    const again = await fixture.start({ program: program.main });
    const after = again.api(fixture.token);
    const data = await until('the daemon knows its program', async () => {
      const now = await status(after);
      return now.state === 'idle' ? now : undefined;
    });
    assert.equal(data.cordoned, false);
    assert.match(data.reason ?? '', /did not start in the process of the daemon; it was started again and runs now/);
    const job = await after.run(['/bin/true']);
    assert.equal((await after.waitFor(job)).state, 'succeeded');

    // Killed while it waits for a job: what was recorded holds, whatever program is started then.
    await until('the daemon knows its program', async () => (await ask(after)).status === 409);
    program.install('0.1.0-last');
    const running = await after.run(['/bin/sleep', '600']);
    await after.waitFor(running, ['running']);
    assert.equal((await ask(after)).status, 200);
    await until('it waits', async () => (await status(after)).state === 'draining', RESTART_LIMIT_MS);
    await again.kill();
    const last = await fixture.start({ program: program.main });
    const lastApi = last.api(fixture.token);
    await lastApi.waitFor(running, ['interrupted']);
    const killed = await status(lastApi);
    assert.deepEqual([killed.state, killed.cordoned], ['aborted', true]);
    assert.match(killed.reason ?? '', /it is still cordoned, until svc maintenance uncordon/);
    const held = await lastApi.run(['/bin/true']);
    assert.equal((await lastApi.job(held)).state, 'queued');
    assert.equal((await lastApi.post('/maintenance/uncordon')).status, 200);
    assert.equal((await lastApi.waitFor(held)).state, 'succeeded');
    assert.equal(await last.stop(), 0);
  });

  test('T33: its files belong to another user: refused, and the daemon works on', { skip: NO_ROOT }, async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main });
    const api = daemon.api(fixture.token);
    assert.equal((await ask(api)).status, 409);
    program.install('0.1.0-next');
    chownSync(program.main, ANOTHER_USER, ANOTHER_USER);
    const refused = await ask(api);
    assert.equal(refused.status, 409);
    assert.match(refused.error?.message ?? '', /main\.js belongs to the user 4242, and not to root/);
    chownSync(program.main, 0, 0);
    assert.equal((await ask(api)).status, 200);
    await until(
      'the new program runs',
      async () => {
        const { data } = await api.get<{ server: { version: string } }>('/whoami');
        return data.server.version === '0.1.0-next';
      },
      RESTART_LIMIT_MS,
    );
    assert.equal(await daemon.stop(), 0);
  });
});
