/** What runs with the rights of root: only a program that no other account can change. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { CommandNotExecutable } from '../launch/errors.ts';
import { createLauncher } from '../launch/launch.ts';

suite('T83: a program with the rights of root', { skip: NO_ROOT }, () => {
  test('T83: is not started where another account can change it, by its name or by its path', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-program-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const [bin, theirs, later] = [join(dir, 'bin'), join(dir, 'theirs'), join(dir, 'later')];
    for (const each of [bin, theirs, later]) mkdirSync(each);
    for (const file of [join(bin, 'file'), join(theirs, 'link'), join(later, 'both')]) {
      copyFileSync('/usr/bin/touch', file);
      chmodSync(file, 0o755);
    }
    symlinkSync(join(theirs, 'link'), join(bin, 'link'));
    symlinkSync(join(theirs, 'link'), join(bin, 'both'));
    for (const each of [join(bin, 'file'), theirs]) chownSync(each, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    const ran = join(dir, 'ran');
    const launcher = createLauncher();
    const launch = (program: string) =>
      launcher.launch({ argv: [program, ran], env: { PATH: `${bin}:${later}` }, cwd: dir, policy: null });
    for (const program of ['file', 'link', join(bin, 'file'), join(bin, 'link'), 'bin/file']) {
      await assert.rejects(launch(program), (error) => {
        assert.ok(error instanceof CommandNotExecutable);
        assert.match(error.message, / belongs to user 64123: chown root /);
        return true;
      });
      assert.equal(existsSync(ran), false, program);
    }
    // As where the service looks for a tool: the next one of that name.
    const launched = await launch('both');
    launched.stdout.resume();
    launched.stderr.resume();
    assert.deepEqual([await launched.exited, existsSync(ran)], [{ exitCode: 0, signal: null }, true]);
  });
});
