import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/api-client.ts';
import { HandClock } from '../../support/clock.ts';
import { needs } from '../../support/tools.ts';
import type { AccountIds } from '../../../src/domain/jobs/account.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { endAccount } from '../../../src/runners/process/end-account.ts';
import { createLauncher, type Launcher } from '../../../src/runners/launch/launch.ts';
import type { Launched } from '../../../src/runners/launch/tool.ts';
import { markIn, markOf } from '../../../src/runners/sandbox/mark.ts';
import { childEnvironment } from '../../../src/runners/process/environment.ts';
import { listProcesses, processEntry } from '../../../src/runners/process/process-table.ts';
import { supervise } from '../../../src/runners/process/supervise.ts';
import { endTree } from '../../../src/runners/process/tree.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4', 'perl');
const NO_ROOT = needs('root', 'Linux', 'Landlock ABI 4', 'perl');

/** Longer than a test takes, so that nothing stays when it fails. */
const HOPS_FOR_S = 60;
/**
 * Leaves the session; then each process starts a successor and ends at once, some thousand times a second, deaf to
 * SIGTERM.
 */
const HOP =
  `$SIG{TERM} = "IGNORE"; my $end = time + ${HOPS_FOR_S}; exit if fork; POSIX::setsid(); ` +
  'close $_ for *STDIN, *STDOUT, *STDERR; while (time < $end) { my $pid = fork; POSIX::_exit(0) if $pid; }';
/** The same, one step for each signal. */
const HOP_ON_USR1 =
  `$SIG{TERM} = "IGNORE"; $SIG{USR1} = sub { POSIX::_exit(0) if fork }; my $end = time + ${HOPS_FOR_S}; ` +
  'exit if fork; POSIX::setsid(); close $_ for *STDIN, *STDOUT, *STDERR; sleep 1 while time < $end';
const HOPS = 3;
const CHAINS = 3;
const HOPPING = Array.from({ length: CHAINS }, () => `perl -MPOSIX -e '${HOP}'`).join('; ');

/** With this number of looks, one of them sees a process that is there. */
const LOOKS = 40;

async function isSeen(jobId: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1)
    if ((await listProcesses()).some(({ pid }) => markIn(pid) === markOf(jobId))) return true;
  return false;
}

describe('a process that starts a successor and ends, again and again', { skip: NO_SANDBOX }, () => {
  let runDir: string;
  let launcher: Launcher;
  let jobId = '';
  let count = 0;

  before(() => {
    runDir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-hopping-')));
    chmodSync(runDir, 0o755);
    launcher = createLauncher();
  });
  after(() => rmSync(runDir, { recursive: true }));

  async function launch(script: string, account: AccountIds | null = null): Promise<Launched> {
    count += 1;
    jobId = `job_hopping_test_${process.pid}_${count}`;
    const launched = await launcher.launch({
      argv: ['sh', '-c', script],
      env: childEnvironment({ jobId, runDir }),
      cwd: runDir,
      account,
      policy: { readable: [], writable: [runDir], connectPorts: [] },
    });
    for (const stream of [launched.stdout, launched.stderr]) stream.resume();
    return launched;
  }

  it('T77: is missed by no look, also where it hands on between the list and the look', async () => {
    const launched = await launch(`perl -MPOSIX -e '${HOP_ON_USR1}'`);
    await launched.exited;
    let hops = 0;
    const adopted = (): readonly number[] | null => {
      const list = launched.adopted();
      const own = list?.find((pid) => markIn(pid) === markOf(jobId) && processEntry(pid) !== null);
      if (own === undefined || hops === HOPS) return list;
      hops += 1;
      process.kill(own, 'SIGUSR1');
      // In this turn, so that its end is not taken.
      while (processEntry(own) !== null);
      return list;
    };
    const { left } = await endTree({ jobId, leader: launched, graceMs: 100, clock: systemClock, adopted });
    assert.deepEqual([left, hops, await isSeen(jobId)], [[], HOPS, false]);
  });

  it('T77: what is left of a job is ended at the end of another one', async () => {
    const launched = await launch(`perl -MPOSIX -e '${HOP_ON_USR1}'`);
    const leftId = jobId;
    await launched.exited;
    const isOfJob = (pid: number): boolean => markIn(pid) === markOf(leftId) && processEntry(pid) !== null;
    // Stands for one that waits in the kernel for a device: no signal ends it in time.
    const members = { pids: () => launched.adopted()?.filter(isOfJob) ?? [], kill: () => undefined };
    const clock = new HandClock();
    const ending = supervise(launched, { jobId, timeoutMs: 60_000, graceMs: 0, clock, members });
    const isOver = { is: false };
    void ending.then(() => (isOver.is = true));
    await until('it is given up', () => {
      clock.advance(100);
      return isOver.is;
    });
    assert.deepEqual((await ending).survivors, members.pids());
    assert.equal(await isSeen(leftId), true);
    await supervise(await launch('exit 0'), { jobId, timeoutMs: 60_000, graceMs: 0, clock: systemClock });
    await until('nothing of it is left', async () => !(await isSeen(leftId)));
  });

  it('T77: does not outlive its job, which ended in order', async () => {
    const launched = await launch(HOPPING);
    const end = await supervise(launched, { jobId, timeoutMs: 60_000, graceMs: 300, clock: systemClock });
    assert.deepEqual(end, { exitCode: 0, reason: 'exited', survivors: [] });
    assert.equal(await isSeen(jobId), false);
  });

  it('T77: is ended by those who have to read the process table', async () => {
    const launched = await launch(HOPPING);
    await launched.exited;
    const { pid, startTicks } = launched;
    const { left } = await endTree({ jobId, recorded: { pid, startTicks }, graceMs: 300, clock: systemClock });
    assert.deepEqual([left, await isSeen(jobId)], [[], false]);
  });

  it(
    'T77: is ended with all of its account at one blow, unless another process has it',
    { skip: NO_ROOT },
    async () => {
      // An account that nothing else has.
      const account = { uid: 400_000_000 + process.pid, gid: 400_000_000 + process.pid };
      const other = await launch('exec sleep 60', account);
      const otherId = jobId;
      await other.started;
      const hopping = await launch(HOPPING, account);
      const hoppingId = jobId;
      await hopping.exited;
      assert.equal(await endAccount(account, hoppingId, systemClock), false);
      assert.deepEqual([await isSeen(hoppingId), await isSeen(otherId)], [true, true]);
      await endTree({ jobId: otherId, leader: other, graceMs: 0, clock: systemClock });
      await until('the other one is gone', async () => endAccount(account, hoppingId, systemClock));
      // A process that has the signal may take some milliseconds to end.
      await until('nothing of it is left', async () => !(await isSeen(hoppingId)));
    },
  );

  it('T77: ends no account that is root, or that this process has itself', async () => {
    const own = process.geteuid?.() ?? 0;
    for (const uid of [0, own]) assert.equal(await endAccount({ uid, gid: 1 }, 'job_none', systemClock), false);
    assert.equal(await endAccount({ uid: own + 1, gid: 0 }, 'job_none', systemClock), false);
  });
});
