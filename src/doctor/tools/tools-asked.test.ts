/** Whom the tools of the examination run as, and what they can find. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { dataDirPaths } from '../../config/data-dir.ts';
import { readSettings } from '../../config/settings/read-settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { findProgram } from '../../lib/programs/find-program.ts';
import { closedPath } from '../../lib/programs/search-path.ts';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { until } from '../../../test/support/api-client.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { find, needs } from '../../../test/support/tools.ts';
import { examineJobAccount } from '../jobs/job-account.ts';
import type { Facts } from '../entry.ts';
import { examineFileAccess } from './file-access.ts';
import { examineOptionalTools } from './optional-tools.ts';

const SYSTEM = '/usr/bin:/bin';
const JOBS: NonNullable<Facts['jobIdentity']> = { account: { name: 'jobs', ...TEST_ACCOUNT }, isFallback: false };
/** No account of a machine has these numbers. */
const FREE_IDS = 1_000_000;
const OWN: NonNullable<Facts['jobIdentity']> = { account: null, isFallback: false };

function folder(t: TestContext, mode = 0o755): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-asked-'));
  t.after(() => rmSync(dir, { recursive: true }));
  chmodSync(dir, mode);
  return dir;
}

function program(path: string, body: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nPATH=${SYSTEM}\n${body}\n`);
  chmodSync(path, 0o755);
}

function facts(t: TestContext, path: string, more: Partial<Facts> = {}): Facts {
  const paths = dataDirPaths(folder(t, 0o700));
  return {
    clock: systemClock,
    path,
    paths,
    settings: readSettings({ 'data-dir': paths.dir }, {}),
    jobIdentity: OWN,
    ...more,
  } as Facts;
}

suite('T83: tools that are asked', () => {
  const ansible = needs('ansible-playbook');
  for (const [whose, identity, skip] of [
    ['the account of the service', OWN, ansible],
    ['the account of jobs', JOBS, ansible || NO_ROOT],
  ] as const)
    test(`T83: as ${whose} they run no code of a home directory`, { skip }, async (t) => {
      const home = folder(t, 0o777);
      const env = { HOME: home, PATH: SYSTEM };
      const site = 'import site; print(site.getusersitepackages())';
      const modules = execFileSync('python3', ['-c', site], { env, encoding: 'utf8' }).trim();
      mkdirSync(modules, { recursive: true });
      const ran = join(home, 'ran');
      writeFileSync(join(modules, 'usercustomize.py'), `open(${JSON.stringify(ran)}, 'w').close()\n`);
      execFileSync(find('ansible-playbook', SYSTEM)!, ['--version'], { env, stdio: 'ignore' });
      assert.equal(existsSync(ran), true, 'where the home is found, the code runs');
      for (const left of [ran, join(home, '.ansible')]) rmSync(left, { recursive: true, force: true });
      const { HOME: before } = process.env;
      process.env['HOME'] = home;
      t.after(() => (process.env['HOME'] = before));
      const { detail } = await examineOptionalTools(facts(t, SYSTEM, { jobIdentity: identity }));
      assert.match(detail, /ansible-playbook \d/);
      assert.deepEqual(readdirSync(home), ['.local']);
    });

  test('T83: they run as the account of jobs, in no other group', { skip: NO_ROOT }, async (t) => {
    const dir = folder(t);
    program(join(dir, 'git'), `echo "git version $(id -u).$(id -G | tr ' ' -)"`);
    const { uid, gid } = TEST_ACCOUNT;
    const as = async (jobIdentity: typeof JOBS): Promise<string> =>
      (await examineOptionalTools(facts(t, dir, { jobIdentity }))).detail;
    assert.match(await as(JOBS), new RegExp(` git ${uid}\\.${gid},`));
    assert.match(
      await as({ account: { name: 'root', uid: 65_534, gid: 65_534 }, isFallback: true }),
      / git 65534\.65534,/,
    );
    assert.match(await as(OWN), / git 0\./, '--job-user root');
  });

  test('T83: they are no strangers to the entry job_account while they run', { skip: NO_ROOT }, async (t) => {
    const dir = folder(t, 0o755);
    const begun = join(folder(t, 0o777), 'begun');
    // What it starts has neither its environment nor its parent.
    program(join(dir, 'ssh'), `env -i /bin/sleep 1000 & echo begun > ${begun}; exec env -i /bin/sleep 1000`);
    const clock = new HandClock();
    // No other test has a process of this account.
    const jobIdentity = { account: { name: 'jobs', uid: FREE_IDS + process.pid, gid: FREE_IDS }, isFallback: false };
    const report = examineOptionalTools(facts(t, dir, { jobIdentity, clock }));
    try {
      await until('the tool runs', () => existsSync(begun));
      const found = await examineJobAccount(facts(t, dir, { jobIdentity, isOfJob: () => false }));
      assert.deepEqual(found, { status: 'ok', detail: 'Jobs run as jobs.' });
    } finally {
      clock.advance(5_000);
    }
    assert.match((await report).detail, /ssh no answer within 5s/);
  });
});

suite('T83: a folder of the PATH that others may write', () => {
  test('T83: is left out when a program is looked up, and is named by the doctor', async (t) => {
    const dir = folder(t);
    const [open, closed, above] = [join(dir, 'open'), join(dir, 'closed'), join(dir, 'above')];
    const ran = join(dir, 'ran');
    for (const each of [open, join(above, 'bin')]) program(join(each, 'git'), `touch ${ran}; echo git version 6.6.6`);
    program(join(closed, 'git'), 'echo git version 2.1.0');
    for (const each of [open, above]) chmodSync(each, 0o777);
    const path = [open, join(above, 'bin'), closed].join(':');
    assert.equal(await findProgram('git', path), join(closed, 'git'));
    assert.equal(closedPath(path), closed);
    assert.match((await examineOptionalTools(facts(t, path))).detail, / git 2\.1\.0,/);
    assert.equal(existsSync(ran), false);
    const { status, detail } = await examineFileAccess(facts(t, path));
    assert.equal(status, 'warn');
    for (const each of [open, above])
      assert.match(detail, new RegExp(`not used for programs: ${each} has mode 0777, .*: chmod g?o-w ${each}[.;]`));
    for (const each of [open, above]) chmodSync(each, 0o755);
    assert.deepEqual(await examineFileAccess(facts(t, path)), {
      status: 'ok',
      detail: 'No other account can change the files and folders that decide (2) or the folders of the PATH (3).',
    });
    assert.equal(await findProgram('git', path), join(open, 'git'));
  });

  test('T83: so is a program that others may write, and one that leads to a folder of theirs', async (t) => {
    const dir = folder(t);
    const [bin, theirs] = [join(dir, 'bin'), join(dir, 'theirs')];
    for (const each of [bin, theirs]) program(join(each, 'git'), 'echo git version 6.6.6');
    chmodSync(join(bin, 'git'), 0o777);
    chmodSync(theirs, 0o777);
    symlinkSync(join(theirs, 'git'), join(bin, 'tofu'));
    for (const name of ['git', 'tofu']) assert.equal(await findProgram(name, bin), null);
    const { detail } = await examineFileAccess(facts(t, bin));
    assert.match(detail, new RegExp(`programs: ${theirs} has .*programs: ${join(bin, 'git')} has mode 0777`));
  });

  test('T83: without another folder no program is found, not even in the current one', async (t) => {
    const dir = folder(t, 0o777);
    program(join(dir, 'git'), 'echo git version 6.6.6');
    assert.equal(closedPath(dir), '/proc/nonexistent');
    assert.match((await examineOptionalTools(facts(t, dir))).detail, / git missing,/);
  });
});
