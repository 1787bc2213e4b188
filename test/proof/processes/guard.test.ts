import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { createGuard, type Guard } from '../../../src/runners/process/guard.ts';
import type { Watched } from '../../../src/runners/process/guard-protocol.ts';
import { writeLeaseTimes } from '../../../src/runners/process/lease-times.ts';
import { processEntry } from '../../../src/runners/process/process-table.ts';
import { endTree, findSurvivors, type Leader } from '../../../src/runners/process/tree.ts';
import { needs } from '../../support/tools.ts';

const NO_LINUX = needs('Linux');
/** The guard gives a tree 10 s from SIGTERM to SIGKILL: what is gone before that took the SIGTERM. */
const BEFORE_KILL_MS = 9_000;
let count = 0;

async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const begun = systemClock.monotonic();
  while (systemClock.monotonic() - begun < withinMs) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`never: ${what}`);
}

interface Job extends Leader {
  readonly jobId: string;
  readonly child: ChildProcess;
}

async function startJob(dir: string, script = 'echo ready; exec sleep 300'): Promise<Job> {
  count += 1;
  const jobId = `job_guard_test_${process.pid}_${count}`;
  const file = join(dir, `${jobId}.sh`);
  writeFileSync(file, script);
  const child = spawn('/bin/sh', [file], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', SVC_JOB_ID: jobId },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const entry = processEntry(child.pid!);
  assert.ok(entry);
  return { jobId, child, pid: entry.pid, startTicks: entry.startTicks };
}

async function endOf({ child }: Job): Promise<{ readonly signal: NodeJS.Signals | null; readonly atMs: number }> {
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return { signal, atMs: systemClock.monotonic() };
}

const isOver = async (job: Job): Promise<boolean> => (await findSurvivors(job.jobId, job)).length === 0;
const watched = ({ jobId, pid, startTicks }: Job): Watched => ({
  jobId,
  pid,
  startTicks,
  termDir: null,
  leaderFirst: false,
  output: null,
  remove: [],
});
const source = (path: string): string => JSON.stringify(join(import.meta.dirname, path));

/** The guards that a process has started. */
function guardsOf(pid: number | string): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.filter(
    (child) => child > 0 && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('guard-child.ts'),
  );
}

/** Four processes; the last one has left the session, with an empty environment. */
const ESCAPING = JSON.stringify(
  'setsid sleep 300 & sleep 301 & env -i setsid sh -c "sleep 302 & exit"; echo ready; wait',
);

describe('the guard of a daemon', { skip: NO_LINUX }, () => {
  let dir: string;
  const jobs: Job[] = [];
  const guards: Guard[] = [];

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-guard-')));
  });
  after(async () => {
    await Promise.all(guards.map((guard) => guard.stop()));
    for (const { jobId, ...leader } of jobs) await endTree({ jobId, leader, graceMs: 0, clock: systemClock });
    rmSync(dir, { recursive: true });
  });

  async function job(script?: string): Promise<Job> {
    const made = await startJob(dir, script);
    jobs.push(made);
    return made;
  }

  async function guard(onProblem?: (error: Error) => void): Promise<Guard> {
    const made = createGuard({
      clock: systemClock,
      compileCacheDir: join(dir, 'cache'),
      ...(onProblem === undefined ? {} : { onProblem }),
    });
    guards.push(made);
    await made.ready();
    return made;
  }

  it('F01, T77: ends the tree of a job with what escaped, and leaves itself, when its daemon is killed', async () => {
    const runDir = dir;
    const daemon = spawn(
      process.execPath,
      [
        '--no-warnings',
        '--input-type=module',
        '-e',
        `
      import { createLauncher } from ${source('../../../src/runners/launch/launch.ts')};
      import { createGuard } from ${source('../../../src/runners/process/guard.ts')};
      import { childEnvironment } from ${source('../../../src/runners/process/environment.ts')};
      import { systemClock } from ${source('../../../src/lib/clock.ts')};
      const clock = systemClock, jobId = 'job_guard_test_${process.pid}_daemon', runDir = '${runDir}';
      const launcher = createLauncher();
      const guard = createGuard({ clock, compileCacheDir: null });
      await guard.ready();
      const job = await launcher.launch({
        argv: ['sh', '-c', ${ESCAPING}],
        env: childEnvironment({ jobId, runDir }), cwd: runDir,
        policy: { readable: [], writable: [runDir], connectPorts: [] },
        beforeStart: (leader) =>
          guard.watch({ ...leader, jobId, termDir: null, leaderFirst: false, output: null, remove: [] }),
      });
      job.stdout.once('data', () => console.log(JSON.stringify({ jobId, pid: job.pid, startTicks: job.startTicks })));
      setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    const { jobId, ...leader } = JSON.parse(String(line)) as { jobId: string } & Leader;
    await until('four processes', async () => (await findSurvivors(jobId, leader)).length === 4);
    const [guardPid] = guardsOf(daemon.pid!);
    daemon.kill('SIGKILL');
    await until('the tree has gone', async () => (await findSurvivors(jobId, leader)).length === 0, BEFORE_KILL_MS);
    await until('the guard has gone', () => processEntry(guardPid!) === null);
  });

  it('F03: a deaf job of a daemon that is killed is gone when the lease would have ended', async () => {
    const deaf = await job(`trap '' TERM; echo ready; while :; do sleep 1; done`);
    const daemon = spawn(
      process.execPath,
      [
        '--no-warnings',
        '--input-type=module',
        '-e',
        `
      import { createGuard } from ${source('../../../src/runners/process/guard.ts')};
      import { systemClock } from ${source('../../../src/lib/clock.ts')};
      const guard = createGuard({ clock: systemClock, compileCacheDir: null });
      await guard.ready();
      guard.renew({ untilTermMs: 60_000, untilKillMs: 1_000, file: null });
      guard.watch(${JSON.stringify(watched(deaf))});
      console.log('watched');
      setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(daemon.stdout, 'data');
    const killed = systemClock.monotonic();
    daemon.kill('SIGKILL');
    const { signal, atMs } = await endOf(deaf);
    assert.ok(signal === 'SIGKILL' && atMs - killed < BEFORE_KILL_MS, `${signal} after ${atMs - killed} ms`);
  });

  it('ends without ending a job when it gets the message to stop', async () => {
    const keeper = await guard();
    const running = await job();
    keeper.watch(watched(running));
    const [pid] = guardsOf(process.pid);
    await keeper.stop();
    await keeper.stop();
    assert.equal(processEntry(pid!), null);
    assert.equal(await isOver(running), false);
    await assert.rejects(keeper.ready());
  });

  it('F03: ends the watched jobs when the lease is not renewed in time, and stays for the next', async () => {
    const keeper = await guard();
    const [polite, deaf] = [await job(), await job(`trap '' TERM; echo ready; while :; do sleep 1; done`)];
    keeper.renew({ untilTermMs: 400, untilKillMs: 2_900, file: null });
    const renewed = systemClock.monotonic();
    keeper.watch(watched(polite));
    keeper.watch(watched(deaf));
    // Each tells when and by what it ended: a look at the process table may come after both on a busy machine.
    const [politeEnd, deafEnd] = await Promise.all([endOf(polite), endOf(deaf)]);
    assert.deepEqual([politeEnd.signal, deafEnd.signal], ['SIGTERM', 'SIGKILL']);
    assert.ok(politeEnd.atMs - renewed >= 400 && deafEnd.atMs - renewed >= 2_900);
    await until('both trees have ended', async () => (await isOver(polite)) && (await isOver(deaf)));

    const late = await job();
    keeper.watch(watched(late));
    await until('a job of a daemon without a lease has ended', () => isOver(late));

    keeper.renew({ untilTermMs: 60_000, untilKillMs: 90_000, file: null });
    const next = await job();
    keeper.watch(watched(next));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await isOver(next), false);
    await keeper.stop();
  });

  it('T87: reads later limits from the file of the lease before it ends a job', async () => {
    const keeper = await guard();
    const running = await job();
    const file = join(dir, 'daemon.lease');
    const end = systemClock.monotonic() + 1_500;
    writeLeaseTimes(file, { termAt: end, killAt: end + 500 });
    keeper.renew({ untilTermMs: 100, untilKillMs: 200, file });
    keeper.watch(watched(running));
    const ended = await endOf(running);
    assert.ok(ended.atMs >= end, `${ended.atMs - end} ms`);
    await keeper.stop();
  });

  it('leaves the jobs alone while the lease is renewed, and one that is no longer watched', async () => {
    const keeper = await guard();
    const [held, released] = [await job(), await job()];
    keeper.watch(watched(held));
    keeper.watch(watched(released));
    // Longer in all than the lease, and each pause far shorter, so that a busy machine makes none of them too long.
    for (let turn = 0; turn < 8; turn++) {
      keeper.renew({ untilTermMs: 3_000, untilKillMs: 3_600, file: null });
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    assert.deepEqual([await isOver(held), await isOver(released)], [false, false]);
    keeper.unwatch(released.jobId);
    await until('the watched one has ended', () => isOver(held));
    assert.equal(await isOver(released), false);
    await keeper.stop();
  });

  it('without a lease has no deadline', async () => {
    const keeper = await guard();
    const running = await job();
    keeper.watch(watched(running));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await isOver(running), false);
    await keeper.stop();
  });

  it('is started again when it dies, and gets all messages again', async () => {
    const problems: Error[] = [];
    const begun = systemClock.monotonic();
    const keeper = await guard((error) => problems.push(error));
    const startMs = systemClock.monotonic() - begun;
    const running = await job();
    keeper.watch(watched(running));
    // The second guard takes as long to start as the first, and is there well before the lease has run out.
    const untilTermMs = Math.max(1_500, 5 * startMs);
    keeper.renew({ untilTermMs, untilKillMs: untilTermMs + 500, file: null });
    const [first] = guardsOf(process.pid);
    process.kill(first!, 'SIGKILL');
    await until('another guard', () =>
      guardsOf(process.pid).some((pid) => pid !== first && processEntry(pid) !== null),
    );
    await keeper.ready();
    assert.equal(problems.length, 1);
    assert.equal(await isOver(running), false);
    await until('the lease of the first has expired', () => isOver(running));
    await keeper.stop();
  });

  it('has at most 20 MB that it does not share while it waits, with a cold cache too, and gives back program text', async () => {
    const idle = spawn(process.execPath, ['-e', `console.log('ready'); setInterval(() => {}, 60_000)`], { env: {} });
    await once(idle.stdout, 'data');
    const textKb = memoryKb(idle.pid, 'RssFile');
    idle.kill('SIGKILL');
    for (const temperature of ['cold', 'warm']) {
      const keeper = createGuard({ clock: systemClock, compileCacheDir: join(dir, 'cache-of-memory-test') });
      await keeper.ready();
      const [pid] = guardsOf(process.pid);
      // It gives text back right after it is ready. What it shares with the daemon is not counted as its own.
      const seen = (): string =>
        `${temperature}: ${memoryKb(pid, 'RssAnon')} + ${memoryKb(pid, 'VmSwap')} kB, ` +
        `${memoryKb(pid, 'RssFile')} kB of text, an idle Node has ${textKb}`;
      await until('small', () => memoryKb(pid, 'RssFile') < 0.9 * textKb).catch(() => assert.fail(seen()));
      assert.ok((memoryKb(pid, 'RssAnon') + memoryKb(pid, 'VmSwap')) * 1024 <= 20_000_000, seen());
      await keeper.stop();
    }
  });
});

/** One field of the memory of a process, kB. proc_pid_status(5) */
function memoryKb(pid: number | undefined, field: 'RssAnon' | 'RssFile' | 'VmSwap'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
}
