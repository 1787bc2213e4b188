/** bin/svc: whose compiled code it takes, and where its own programs come from. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { NO_ROOT, TEST_ACCOUNT } from '../../support/accounts/job-account.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');

function version(home: string): { readonly code: number | null; readonly stderr: string } {
  const env = { PATH: '/usr/bin:/bin', HOME: home };
  const { status, stderr } = spawnSync(SVC, ['version'], { cwd: '/', env, encoding: 'utf8' });
  return { code: status, stderr };
}

function folder(t: TestContext, mode = 0o755): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-cache-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  chmodSync(dir, mode);
  return dir;
}

const modulesOf = (home: string): string => join(home, '.cache', 'gatehouse', 'modules');

/** Twice: the first run may only make the folder. */
function kept(home: string): string[] {
  for (let run = 0; run < 2; run += 1) assert.deepEqual(version(home), { code: 0, stderr: '' });
  return readdirSync(modulesOf(home));
}

suite('T89: compiled code in a folder that others can change', () => {
  test('T89: is neither read nor written; in a closed folder it is', (t) => {
    const home = folder(t);
    mkdirSync(modulesOf(home), { recursive: true });
    for (const [open, mode] of [
      [home, 0o757],
      [join(home, '.cache'), 0o757],
      [modulesOf(home), 0o757],
      [modulesOf(home), 0o1757],
    ] as const) {
      chmodSync(open, mode);
      assert.deepEqual(kept(home), [], `${open} ${mode.toString(8)}`);
      chmodSync(open, 0o755);
    }
    assert.equal(kept(home).length, 1);
  });

  test('T89: of a home of another account root takes none, whatever it leads to', { skip: NO_ROOT }, (t) => {
    const [home, other] = [folder(t), folder(t)];
    mkdirSync(modulesOf(other), { recursive: true });
    chownSync(other, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    assert.deepEqual(kept(other), []);
    mkdirSync(modulesOf(home), { recursive: true });
    rmSync(join(other, '.cache'), { recursive: true });
    symlinkSync(join(home, '.cache'), join(other, '.cache'));
    assert.deepEqual(kept(other), [], 'its owner could exchange the link');
    rmSync(join(other, '.cache'));
    assert.equal(version(other).code, 0);
    assert.deepEqual(readdirSync(other), [], 'nothing is made there');
  });

  test('T89: a folder behind a link of this account is used', (t) => {
    const [home, disk] = [folder(t), folder(t)];
    symlinkSync(disk, join(home, '.cache'));
    assert.equal(kept(home).length, 1);
  });

  test('T83: bin/svc runs no program of a folder of the PATH that others may write', (t) => {
    const dir = folder(t, 0o777);
    const ran = join(dir, 'ran');
    for (const name of ['ls', 'mkdir', 'readlink', 'uname', 'find', 'id', 'stat', 'dirname'])
      writeFileSync(join(dir, name), `#!/bin/sh\n: > ${ran}\n`, { mode: 0o755 });
    const home = folder(t);
    symlinkSync(SVC, join(home, 'svc'));
    const env = { HOME: home, PATH: `${dir}:/usr/bin:/bin`, CDPATH: dir };
    const { status } = spawnSync('./svc', ['version'], { cwd: home, env });
    assert.equal(status, 0);
    assert.deepEqual(readdirSync(dir).includes('ran'), false);
  });

  test('T83: without its own Node, bin/svc of root takes one that others cannot change', { skip: NO_ROOT }, (t) => {
    const dir = folder(t);
    for (const name of ['bin', 'closed', 'link', 'theirs', 'file']) mkdirSync(join(dir, name));
    copyFileSync(SVC, join(dir, 'bin', 'svc'));
    for (const name of ['closed', 'theirs', 'file'])
      writeFileSync(join(dir, name, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo v26.0.0 || echo ${name}\n`, {
        mode: 0o755,
      });
    symlinkSync(join(dir, 'theirs', 'node'), join(dir, 'link', 'node'));
    for (const name of ['theirs', 'file/node']) chownSync(join(dir, name), TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    for (const shell of ['/bin/sh', '/bin/bash'].filter((path) => existsSync(path)))
      for (const first of ['closed', 'link', 'theirs', 'file']) {
        const env = { PATH: `${join(dir, first)}:${join(dir, 'closed')}` };
        const { stdout } = spawnSync(shell, [join(dir, 'bin', 'svc')], { cwd: '/', env, encoding: 'utf8' });
        assert.equal(stdout, 'closed\n', `${shell} ${first}`);
      }
  });

  test('T83: bin/svc runs no function of the environment', { skip: !existsSync('/bin/bash') }, (t) => {
    const home = folder(t);
    const ran = join(home, 'ran');
    const names = ['cd', 'pwd', 'ls', 'read', 'readlink', 'uname', 'echo'];
    const functions = names.map((name) => [`BASH_FUNC_${name}%%`, `() { : > ${ran}; command ${name} "$@"; }`]);
    symlinkSync(SVC, join(home, 'svc'));
    const env = { PATH: '/usr/bin:/bin', HOME: home, ...Object.fromEntries(functions) };
    assert.equal(spawnSync('/bin/bash', ['--posix', join(home, 'svc'), 'version'], { cwd: '/', env }).status, 0);
    assert.equal(existsSync(ran), false);
  });
});
