/** Files that decide what the service does, and that another account can change: root refuses them, others warn. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { rootCertificates } from 'node:tls';
import { isRoot } from '../../../src/config/job-account.ts';
import type { DoctorEntry } from '../../../src/doctor/entry.ts';
import { NO_ROOT, TEST_ACCOUNT } from '../../support/accounts/job-account.ts';
import { startRefused } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');
/** A daemon of the test's own account; where that is root, of another one, which has nothing but its numbers. */
const ORDINARY = isRoot()
  ? ['setpriv', `--reuid=${TEST_ACCOUNT.uid}`, `--regid=${TEST_ACCOUNT.gid}`, '--clear-groups']
  : [];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function svc(args: readonly string[], env: Readonly<Record<string, string>>, wrapper: readonly string[] = []): Ended {
  const [program = '', ...words] = [...wrapper, SVC, ...args];
  const given = { PATH: '/usr/bin:/bin', ...env };
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: '/', env: given, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

function folder(t: TestContext, mode = 0o755): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-others-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  chmodSync(dir, mode);
  return dir;
}

/** A file for each flag that names one. */
function filesIn(dir: string): Record<string, string> {
  const texts = {
    config: 'max-jobs: 3\n',
    'notify-file': '# no target\n',
    'check-ca-file': `${rootCertificates[0]}\n`,
    'toolchain-manifest': '{}\n',
  };
  return Object.fromEntries(
    Object.entries(texts).map(([flag, text]) => {
      writeFileSync(join(dir, flag), text, { mode: 0o644 });
      return [flag, join(dir, flag)];
    }),
  );
}

suite('T89: files that others can change, and a daemon that is root', { skip: NO_ROOT }, () => {
  test('T89: the daemon does not start, and names the file, what is open and the command that closes it', async (t) => {
    const dir = folder(t);
    const above = join(dir, 'above');
    mkdirSync(above);
    const files = { ...filesIn(above), 'seal-key-file': join(above, 'seal.key') };
    for (const [flag, file] of Object.entries(files)) {
      const refusedWith = async (why: RegExp): Promise<void> => {
        const { exitCode, stdout } = await startRefused({ dataDir: join(dir, 'data'), args: [`--${flag}`, file] });
        assert.equal(exitCode, 1, flag);
        const { message } = (JSON.parse(stdout) as { error: { message: string } }).error;
        assert.match(message, why);
        assert.ok(message.startsWith(`--${flag}: ${file} `), message);
      };
      chmodSync(above, 0o777);
      await refusedWith(new RegExp(`: ${above} has mode 0777, so that others can change it: chmod g?o-w ${above}[.]`));
      chmodSync(above, 0o755);
      chownSync(above, TEST_ACCOUNT.uid, 0);
      await refusedWith(new RegExp(`: ${above} belongs to user ${TEST_ACCOUNT.uid}: chown root ${above}, or `));
      chownSync(above, 0, 0);
      if (flag === 'seal-key-file') continue;
      chmodSync(file, 0o666);
      await refusedWith(new RegExp(` has mode 0666, so that others can change it: chmod g?o-w ${file}[.]`));
      chmodSync(file, 0o644);
    }
  });

  test('T89: with the same files closed, in a folder of root with the sticky bit, it starts', async (t) => {
    const fixture = await openFixture(t);
    const dir = folder(t, 0o1777);
    const args = Object.entries(filesIn(dir)).flatMap(([flag, file]) => [`--${flag}`, file]);
    // npm adds folders above the checkout, which may be in one that everybody may write.
    const daemon = await fixture.start({ args, env: { PATH: '/usr/bin:/bin' } });
    const { data } = await daemon.api(fixture.token).get<DoctorEntry[]>('/health');
    assert.equal(data.find(({ name }) => name === 'file_access')?.status, 'ok', JSON.stringify(data));
    assert.doesNotMatch(daemon.log(), /another account can change/);
  });

  test('T89: each program of root refuses a folder that others can change, before it makes or closes one', (t) => {
    const [home, others, target] = [folder(t), folder(t), folder(t)];
    mkdirSync(join(others, '.local', 'share'), { recursive: true });
    symlinkSync(target, join(others, '.local', 'share', 'gatehouse'));
    symlinkSync(target, join(others, 'folder'));
    chownSync(others, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    const verbs = [['doctor'], ['job', 'list'], ['seal', 'status'], ['serve', '--web-addr', '127.0.0.1:0'], ['web']];
    for (const words of verbs) {
      const refused = svc(words, { HOME: others });
      assert.match(
        `${refused.stdout}${refused.stderr}`,
        /--data-dir: .* belongs to user 64123: chown root /,
        words.join(' '),
      );
    }
    const path = join(others, 'folder');
    for (const flag of ['data-dir', 'backup-dir', 'runs-dir']) {
      const refused = svc(['serve', '--web-addr', '127.0.0.1:0', `--${flag}`, path], { HOME: home });
      assert.match(
        `${refused.stdout}${refused.stderr}`,
        new RegExp(`--${flag}: ${path} .* belongs to user 64123: chown root `),
      );
    }
    assert.deepEqual([statSync(target).mode & 0o777, readdirSync(target)], [0o755, []]);
    assert.deepEqual(readdirSync(home), ['.cache']);
  });

  test('T89: contexts of root are not kept where a link of another account leads, and none is removed there', (t) => {
    const [others, target] = [folder(t), folder(t)];
    writeFileSync(join(target, 'package.json'), '{}');
    mkdirSync(join(others, '.config', 'gatehouse'), { recursive: true });
    symlinkSync(target, join(others, '.config', 'gatehouse', 'contexts'));
    chownSync(others, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    const add = ['context', 'add', 'lab', '--url', 'http://127.0.0.1:9', '--token-variable', 'LAB_TOKEN'];
    for (const words of [add, ['context', 'use', 'local'], ['context', 'remove', 'package']])
      assert.match(svc(words, { HOME: others, LAB_TOKEN: 'svc_lab' }).stderr, / belongs to user 64123: chown root /);
    assert.deepEqual([statSync(target).mode & 0o777, readdirSync(target)], [0o755, ['package.json']]);
  });

  test('T89: a named pipe in the place of the context in use does not stop a verb', (t) => {
    const home = folder(t);
    mkdirSync(join(home, '.config', 'gatehouse'), { recursive: true });
    const pipe = join(home, '.config', 'gatehouse', 'context');
    spawnSync('mkfifo', [pipe]);
    assert.match(svc(['job', 'list'], { HOME: home }).stderr, new RegExp(`${pipe}: is not a file`));
  });

  test('T89: verbs of root refuse too: settings, the seal key, and a context', (t) => {
    const home = folder(t, 0o700);
    const open = join(home, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const { config = '' } = filesIn(open);
    const asRoot = { HOME: home, SVC_DATA_DIR: join(home, 'data') };
    assert.match(svc(['doctor', '--config', config], asRoot).stderr, /--config: .*chmod g?o-w/);
    const made = svc(['token', 'create', '--name', 'me', '--scope', 'operator'], {
      ...asRoot,
      SVC_SEAL_KEY_FILE: join(open, 'seal.key'),
    });
    assert.match(made.stderr, /--seal-key-file: .* cannot be trusted: .*chmod g?o-w/);
    assert.deepEqual(readdirSync(open).toSorted(), ['check-ca-file', 'config', 'notify-file', 'toolchain-manifest']);
    const contexts = { HOME: home, XDG_CONFIG_HOME: open, LAB_TOKEN: 'svc_lab' };
    const words = ['context', 'add', 'lab', '--url', 'http://127.0.0.1:9', '--token-variable', 'LAB_TOKEN'];
    assert.match(svc(words, contexts).stderr, /open has mode 0777, .*: chmod g?o-w/);
    assert.deepEqual(readdirSync(open).toSorted(), ['check-ca-file', 'config', 'notify-file', 'toolchain-manifest']);
    chmodSync(open, 0o700);
    assert.equal(svc(words, contexts).code, 0);
    chmodSync(open, 0o777);
    assert.match(svc(['job', 'list', '--context', 'lab'], contexts).stderr, /open has mode 0777, .*: chmod g?o-w/);
  });
});

suite('T89: files that others can change, and an account that is not root', () => {
  const skip = isRoot() && needs('root', 'a checkout that every account reaches');

  test('T89: the daemon starts, its log names each file, and so does the doctor', { skip }, async (t) => {
    const fixture = await openFixture(t);
    const dir = folder(t);
    if (isRoot())
      for (const each of [fixture.dir, dir])
        spawnSync('chown', ['-R', `${TEST_ACCOUNT.uid}:${TEST_ACCOUNT.gid}`, each]);
    const files = filesIn(dir);
    if (isRoot()) for (const file of Object.values(files)) chownSync(file, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    chmodSync(dir, 0o757);
    const args = Object.entries(files).flatMap(([flag, file]) => [`--${flag}`, file]);
    const env = { HOME: '/nonexistent', PATH: `${dir}:/usr/bin:/bin` };
    const daemon = await fixture.start({ args, env, wrapper: ORDINARY });
    const { data } = await daemon.api(fixture.token).get<DoctorEntry[]>('/health');
    const found = data.find(({ name }) => name === 'file_access');
    assert.equal(found?.status, 'warn');
    for (const flag of Object.keys(files)) {
      assert.match(found.detail, new RegExp(`--${flag}: ${dir} has mode 0757, .*: chmod o-w ${dir}`));
      assert.match(daemon.log(), new RegExp(`"flag":"${flag}".*${dir} has mode 0757`));
    }
    assert.match(found.detail, new RegExp(`not used for programs: ${dir} has mode 0757`));
    assert.match(daemon.log(), /no program is taken from this folder of the PATH/);
  });

  test('T89: a context that others can change is a warning, and so is a token that they can read', { skip }, (t) => {
    const home = folder(t, 0o755);
    if (isRoot()) chownSync(home, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    const env = { HOME: home };
    const token = join(home, 'token');
    writeFileSync(token, 'svc_x\n');
    if (isRoot()) chownSync(token, TEST_ACCOUNT.uid, TEST_ACCOUNT.gid);
    chmodSync(token, 0o604);
    const words = ['context', 'add', 'lab', '--url', 'http://127.0.0.1:9', '--token-file', token];
    const added = svc(words, env, ORDINARY);
    const warning = `Warning: --token-file: other accounts can read the token in ${token}: chmod 600 ${token}\n`;
    assert.deepEqual([added.code, added.stderr], [0, warning]);
    chmodSync(token, 0o600);
    chmodSync(home, 0o757);
    const used = svc(['job', 'list', '--context', 'lab'], env, ORDINARY);
    assert.match(used.stderr, new RegExp(`^Warning: other accounts can change a context: ${home} has mode 0757, .*`));
    assert.doesNotMatch(used.stderr, /can read the token/);
  });
});
