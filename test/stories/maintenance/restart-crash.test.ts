/** F27 and T33: a new program that works in its trial and not as a daemon, and one that another user owns. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type Api, type ApiAnswer, until } from '../../support/api-client.ts';
import { NotReady } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { copyProgram } from '../../support/restart/program-copy.ts';

interface Restart {
  readonly state: string;
  readonly cordoned: boolean;
  readonly reason: string | null;
}

const NO_ROOT = process.getuid?.() === 0 ? false : 'this test gives a file to another user, which only root may do';
const ANOTHER_USER = 4242;
/** A trial starts the program twice, and reads all files three times. */
const RESTART_LIMIT_MS = 120_000;
const CRASH = "if (process.argv.includes('serve')) throw new Error('the new program does not serve');\n";

/** Asks until the daemon knows what it runs. */
function ask(api: Api): Promise<ApiAnswer<Restart>> {
  return until('the daemon knows its program', async () => {
    const answer = await api.post<Restart>('/maintenance/restart', {});
    return answer.status === 503 ? undefined : answer;
  });
}

describe('a restart in place to a bad program', () => {
  test('F27: it crashes after the execution: what went wrong is said, and the old one is the way back', async (t) => {
    const fixture = await openFixture(t);
    const program = copyProgram(join(fixture.dir, 'program'));
    const daemon = await fixture.start({ program: program.main });
    const api = daemon.api(fixture.token);
    assert.equal((await ask(api)).status, 409);
    program.install('0.1.0-next');
    const whole = readFileSync(program.main, 'utf8');
    writeFileSync(program.main, CRASH + whole);
    assert.equal((await ask(api)).status, 200);
    // Trial, drain and execution succeed; the process ends with the error of the new program in its log.
    assert.equal(await daemon.exited, 1);
    assert.match(daemon.log(), /the new program does not serve/);
    const verb = async (name: string): Promise<string> => {
      const files = ['--data-dir', daemon.ready.data_dir, '--seal-key-file', join(fixture.dir, 'seal.key')];
      const words = [program.main, ...name.split(' '), ...files, '--output', 'json'];
      return (await promisify(execFile)(process.execPath, words).catch((error: { stdout: string }) => error)).stdout;
    };
    assert.match(await verb('maintenance restart-status'), /the new program has not started yet; if it does not/);
    assert.match(await verb('doctor'), /the new program has not started yet; if it does not/);
    // A service manager starts it again, and it fails again, which changes nothing.
    await assert.rejects(fixture.start({ program: program.main }), (error: unknown) => {
      assert.ok(error instanceof NotReady);
      assert.match(error.refusal.stderr, /the new program does not serve/);
      return true;
    });
    writeFileSync(program.main, whole);
    const again = await fixture.start({ program: program.main });
    const after = again.api(fixture.token);
    const { data } = await after.get<Restart>('/maintenance/restart');
    assert.deepEqual([data.state, data.cordoned], ['aborted', false]);
    assert.match(data.reason ?? '', /did not start in the process of the daemon/);
    const job = await after.run(['/bin/true']);
    assert.equal((await after.waitFor(job)).state, 'succeeded');
    assert.equal(await again.stop(), 0);
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
