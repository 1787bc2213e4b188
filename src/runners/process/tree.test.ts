import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { until } from '../../../test/support/api-client.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { systemClock } from '../../lib/clock.ts';
import { Children } from '../launch/children.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
import { markIn, markOf } from '../sandbox/mark.ts';
import { processEntry } from './process-table.ts';
import { endTree, findSurvivors, type Leader } from './tree.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_LINUX = needs('Linux');
const NO_ROOT = needs('root');
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-tree-'));
const started: ChildProcess[] = [];
let count = 0;

/** A job id that no other process of the machine was started with. */
function newJobId(): string {
  count += 1;
  return `job_tree_test_${process.pid}_${count}`;
}

/** Starts a program as the leader of a new session, and waits until it has said a line. */
async function start(jobId: string, script: string): Promise<{ child: ChildProcess; leader: Leader }> {
  const env = { PATH: '/usr/bin:/bin', SVC_JOB_ID: jobId };
  const file = join(dir, `${jobId}.sh`);
  writeFileSync(file, script);
  const child = spawn('/bin/sh', [file], { detached: true, env, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const entry = processEntry(child.pid!);
  assert.ok(entry);
  return { child, leader: { pid: entry.pid, startTicks: entry.startTicks } };
}

async function untilCount(jobId: string, leader: Leader | null, wanted: number): Promise<void> {
  await until(
    `${wanted} processes of the job are there`,
    async () => (await findSurvivors(jobId, leader)).length === wanted,
  );
}

/** sh that ignores SIGTERM, a child of it, and a daemon made by leaving the session and forking twice: five in all. */
const FIVE =
  `trap '' TERM; sleep 300 & setsid sh -c 'trap "" TERM; (sleep 301 & sleep 302) & wait' & echo ready; wait; ` +
  'while :; do sleep 1; done';

describe('the tree of a job', { skip: NO_LINUX }, () => {
  after(() => {
    for (const child of started) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    }
    rmSync(dir, { recursive: true });
  });

  it('F12: of five processes that ignore SIGTERM and leave the session, none is left', async () => {
    const jobId = newJobId();
    const { leader } = await start(jobId, FIVE);
    await untilCount(jobId, leader, 5);
    const clock = new HandClock();
    const ending = endTree({ jobId, leader, graceMs: 200, clock });
    // It waits after each look at the processes.
    const looked = (): Promise<boolean> => until('it waits', () => clock.waiting > 0);
    await looked();
    clock.advance(199);
    await looked();
    await untilCount(jobId, leader, 5);
    const end = { is: false };
    void ending.then(() => (end.is = true));
    await until('it is over', () => {
      clock.advance(5);
      return end.is;
    });
    assert.deepEqual(await ending, { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('F02: is found by the job id alone, when nothing was recorded of its leader', async () => {
    const jobId = newJobId();
    await start(jobId, FIVE);
    await untilCount(jobId, null, 5);
    assert.deepEqual(await endTree({ jobId, graceMs: 0, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId), []);
  });

  it('F12: ends a stopped process, which takes a signal only when it continues', async () => {
    const jobId = newJobId();
    const { child, leader } = await start(jobId, 'echo ready; exec sleep 300');
    child.kill('SIGSTOP');
    const ended = once(child, 'exit');
    assert.deepEqual(await endTree({ jobId, leader, graceMs: 10_000, clock: systemClock }), { left: [] });
    assert.deepEqual(await ended, [null, 'SIGTERM']);
  });

  it('lets a process that obeys end in its own way, and tells it once', async () => {
    const jobId = newJobId();
    const { child, leader } = await start(
      jobId,
      `trap 'n=$((n+1))' TERM; n=0; echo ready; sleep 0.3; sleep 0.3; exit $((40 + n))`,
    );
    // The sleeping child gets the signal too, so only the shell counts.
    const ended = once(child, 'exit');
    await endTree({ jobId, leader, graceMs: 10_000, clock: systemClock });
    assert.deepEqual(await ended, [41, null]);
  });

  it('never touches a process that only has the pid of the leader', async () => {
    const stranger = await start('another job', 'echo ready; exec sleep 300');
    const leader = { pid: stranger.leader.pid, startTicks: stranger.leader.startTicks - 1 };
    assert.deepEqual(await findSurvivors(newJobId(), leader), []);
    assert.deepEqual(await endTree({ jobId: newJobId(), leader, graceMs: 0, clock: systemClock }), { left: [] });
    assert.equal(processEntry(stranger.leader.pid)?.startTicks, stranger.leader.startTicks);
  });

  it('never touches a process that only has the pid of the leader, where orphans are adopted', async () => {
    const stranger = await start('another job', 'echo ready; exec sleep 300');
    const leader = { pid: stranger.leader.pid, startTicks: stranger.leader.startTicks - 1 };
    const adopted = (): number[] => [leader.pid];
    assert.deepEqual(await endTree({ jobId: newJobId(), leader, graceMs: 0, clock: systemClock, adopted }), {
      left: [],
    });
    assert.equal(processEntry(stranger.leader.pid)?.startTicks, stranger.leader.startTicks);
  });

  it('T82: a recorded leader that is not of the job stays, with its group, its session and its children', async (t) => {
    const other = newJobId();
    const stranger = await start(other, 'sleep 300 & setsid sleep 301 & echo ready; wait');
    t.after(() => endTree({ jobId: other, leader: stranger.leader, graceMs: 0, clock: systemClock }));
    const all = (): Promise<unknown[]> => findSurvivors(other, stranger.leader);
    await until('three processes of the other job', async () => (await all()).length === 3);
    for (const recorded of [stranger.leader, { pid: 0, startTicks: 0 }, { pid: process.pid, startTicks: 0 }]) {
      const options = { jobId: newJobId(), recorded, graceMs: 0, clock: systemClock };
      assert.deepEqual(await endTree(options), { left: [] });
      assert.deepEqual(await endTree({ ...options, leaderFirst: true }), { left: [] });
    }
    assert.equal((await all()).length, 3);
  });

  it('T82: what was started with the id of the job is ended, whomever the record names', async () => {
    const stranger = await start('another job', 'echo ready; exec sleep 300');
    const jobId = newJobId();
    const { leader } = await start(jobId, FIVE);
    await untilCount(jobId, leader, 5);
    const recorded = stranger.leader;
    assert.deepEqual(await endTree({ jobId, recorded, graceMs: 50, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
    assert.equal(processEntry(recorded.pid)?.startTicks, recorded.startTicks);
  });

  it('T82: a recorded leader that is of the job is ended with what keeps forking', async () => {
    const jobId = newJobId();
    const script = `trap '' TERM; echo ready; while :; do sleep 5 & sleep 0.01; done`;
    const { leader } = await start(jobId, script);
    assert.deepEqual(await endTree({ jobId, recorded: leader, graceMs: 100, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('T82: a process of another account that has copied the mark does not count', { skip: NO_ROOT }, async (t) => {
    const jobId = newJobId();
    const mark = markOf(jobId).toString();
    const argv = [`--rttime=${mark}:${mark}`, 'sleep', '300'];
    const other = spawn('prlimit', argv, { uid: 200_000 + process.pid, gid: 65_534, env: {}, stdio: 'ignore' });
    t.after(() => other.kill('SIGKILL'));
    await until('it has the mark', () => markIn(other.pid!) === markOf(jobId));
    // A daemon that is not root; the real user of the test is one that may not signal the other, either.
    process.seteuid!(100_000 + process.pid);
    const found = await findSurvivors(jobId).finally(() => process.seteuid!(0));
    assert.deepEqual(found, []);
  });

  it('F12: ends five processes by the lists of children, where what they leave behind is adopted', async () => {
    const jobId = newJobId();
    const { leader } = await start(jobId, FIVE);
    await untilCount(jobId, leader, 5);
    const children = new Children(openSystemCalls());
    const adopted = (): number[] | null => children.adopted();
    assert.deepEqual(await endTree({ jobId, leader, graceMs: 200, clock: systemClock, adopted }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('takes no other job for its own whose id only begins or ends alike', async () => {
    const jobId = newJobId();
    await start(`${jobId}0`, 'echo ready; exec sleep 300');
    await start(`x${jobId}`, 'echo ready; exec sleep 300');
    assert.deepEqual(await findSurvivors(jobId), []);
    await assert.rejects(findSurvivors(''));
  });

  it('finds a process of the session that cleaned its environment, also after the leader has gone', async () => {
    const jobId = newJobId();
    const { child, leader } = await start(jobId, 'env -i /bin/sleep 300 & echo ready; sleep 0.2; exit 0');
    if (child.exitCode === null) await once(child, 'exit');
    await untilCount(jobId, leader, 1);
    assert.deepEqual(await endTree({ jobId, leader, graceMs: 5_000, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('finds a process that cleaned its environment and left the session, while its parent lives', async () => {
    const jobId = newJobId();
    const { leader } = await start(jobId, 'env -i /usr/bin/setsid /bin/sleep 300 & echo ready; wait');
    await untilCount(jobId, leader, 2);
    assert.deepEqual(await endTree({ jobId, leader, graceMs: 0, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('finds a process behind an environment of any length', async () => {
    const jobId = newJobId();
    const env = {
      PATH: '/usr/bin:/bin',
      ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`FILL${n}`, 'x'.repeat(60_000)])),
      SVC_JOB_ID: jobId,
    };
    const child = spawn('/bin/sleep', ['300'], { detached: true, env, stdio: 'ignore' });
    started.push(child);
    await untilCount(jobId, null, 1);
    await endTree({ jobId, graceMs: 0, clock: systemClock });
  });

  it('keeps up with a process that forks without end', async () => {
    const jobId = newJobId();
    const { leader } = await start(jobId, `trap '' TERM; echo ready; while :; do setsid sleep 5 & sleep 0.01; done`);
    assert.deepEqual(await endTree({ jobId, leader, graceMs: 100, clock: systemClock }), { left: [] });
    assert.deepEqual(await findSurvivors(jobId, leader), []);
  });

  it('gives the ending up, and says what is left, when it is aborted', async () => {
    const jobId = newJobId();
    const { leader } = await start(jobId, `trap '' TERM; echo ready; while :; do sleep 1; done`);
    const abort = new AbortController();
    const ending = endTree({ jobId, leader, graceMs: 60_000, clock: systemClock, signal: abort.signal });
    abort.abort();
    assert.ok((await ending).left.includes(leader.pid));
    await endTree({ jobId, leader, graceMs: 0, clock: systemClock });
  });

  it('does not count a dead process that no parent has reaped', async () => {
    const jobId = newJobId();
    // The shell becomes a program that never waits for the child it had.
    const { leader } = await start(jobId, 'sleep 0 & echo ready; exec sleep 300');
    await until('the shell has become sleep', () => readFileSync(`/proc/${leader.pid}/comm`, 'utf8').includes('sleep'));
    await untilCount(jobId, leader, 1);
    await endTree({ jobId, leader, graceMs: 0, clock: systemClock });
  });
});
