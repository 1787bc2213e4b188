import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/support/api-client.ts';
import { NO_ROOT, TEST_ACCOUNT } from '../../../test/support/accounts/job-account.ts';
import { asAccount } from './as-account.ts';
import { openMachine } from '../launch/machine.ts';

const AT_FDCWD = -100;
const PR_GET_DUMPABLE = 3;
const ENOENT = -2;
const EACCES = -13;

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
}

describe('calls on files with the rights of an account', { skip: NO_ROOT }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-as-account-'));
  before(() => chmodSync(dir, 0o777));
  after(() => rmSync(dir, { recursive: true }));

  it('make what belongs to the account, and report each result', async () => {
    const made = join(dir, 'made');
    const results = await asAccount(
      TEST_ACCOUNT,
      (calls) => {
        calls.add('mkdirat', AT_FDCWD, calls.text(made), 0o750);
        calls.add('unlinkat', AT_FDCWD, calls.text(join(dir, 'nothing')), 0);
        calls.add('openat', AT_FDCWD, calls.text('/etc/shadow'), constants.O_RDONLY);
        calls.add('openat', AT_FDCWD, calls.text('/etc/hostname'), constants.O_RDONLY | 0o2000000);
      },
      (all) => all,
    );
    const [mode, none, closed, open = -1] = results;
    assert.deepEqual([mode, none, closed, open > 2], [0, ENOENT, EACCES, true]);
    // The descriptor is one of this process.
    closeSync(open);
    const { uid, gid } = statSync(made);
    assert.deepEqual({ uid, gid }, TEST_ACCOUNT);
    assert.equal(process.geteuid?.(), 0);
  });

  it('are not made as root', async () => {
    const made = join(dir, 'never');
    for (const account of [
      { uid: 0, gid: 5 },
      { uid: 5, gid: 0 },
    ]) {
      const run = asAccount(
        account,
        (calls) => calls.add('mkdirat', AT_FDCWD, calls.text(made), 0o700),
        () => undefined,
      );
      await assert.rejects(run, /must not be root/);
    }
    assert.equal(existsSync(made), false);
  });

  it('T66: hold up only their own process, which the account can neither signal nor read', async () => {
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', ['-m', '666', pipe]);
    const before = new Set(childrenOf(process.pid));
    const opening = asAccount(
      TEST_ACCOUNT,
      (calls) => calls.add('openat', AT_FDCWD, calls.text(pipe), constants.O_RDONLY),
      ([fd = -1]) => fd,
    );
    const pid = childrenOf(process.pid).find((child) => !before.has(child)) ?? assert.fail('there is no child');
    const isWaiting = (): boolean => readFileSync(`/proc/${pid}/status`, 'latin1').includes(`\t${TEST_ACCOUNT.uid}\t`);
    await until('it waits', isWaiting);
    const reach = `kill -9 ${pid}; kill -19 ${pid}; head -c 1 /proc/${pid}/maps; head -c 1 /proc/${process.pid}/maps`;
    const { stderr } = spawnSync('sh', ['-c', reach], { ...TEST_ACCOUNT, encoding: 'utf8' });
    assert.equal(stderr.match(/not permitted|denied/gi)?.length, 4, stderr);
    const writer = openSync(pipe, constants.O_WRONLY);
    const fd = await opening;
    assert.ok(fd > 2);
    closeSync(fd);
    closeSync(writer);
    const { system } = openMachine();
    assert.equal(system.call(system.numbers.made.prctl, PR_GET_DUMPABLE), 1);
  });
});
