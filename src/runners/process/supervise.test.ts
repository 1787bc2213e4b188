import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/support/api-client.ts';
import { needs } from '../../../test/support/tools.ts';
import { systemClock } from '../../lib/clock.ts';
import { createLauncher, type Launcher } from '../launch/launch.ts';
import type { Launched } from '../launch/tool.ts';
import { childEnvironment } from './environment.ts';
import { processEntry } from './process-table.ts';
import { supervise, type SuperviseOptions } from './supervise.ts';
import { endTree, findSurvivors } from './tree.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4');

/** Takes the output as it comes; the answer grows. */
function take(launched: Launched): { text: string } {
  const taken = { text: '' };
  for (const stream of [launched.stdout, launched.stderr])
    stream.on('data', (chunk: Buffer) => void (taken.text += chunk.toString()));
  return taken;
}

async function firstLine(launched: Launched): Promise<string> {
  const [data] = (await once(launched.stdout, 'data')) as [Buffer];
  return String(data).trim();
}

/**
 * A privileged job may take the mark off, too: then it has neither that, nor the id, the session or a parent. Its pid
 * is in a file of the run.
 */
const escaped = (command: string): string =>
  `env -i setsid sh -c 'prlimit --pid $$ --rttime=9; env -i ${command} & echo $! >escaped.pid'; echo said`;

describe('a supervised run', { skip: NO_SANDBOX }, () => {
  let runDir: string;
  let launcher: Launcher;
  let jobId = '';
  let count = 0;

  before(() => {
    runDir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-supervise-')));
    launcher = createLauncher();
  });
  after(async () => {
    rmSync(runDir, { recursive: true });
  });

  function launch(script: string, privileged = false): Promise<Launched> {
    count += 1;
    jobId = `job_supervise_test_${process.pid}_${count}`;
    const policy = privileged ? null : { readable: [], writable: [runDir], connectPorts: [] };
    return launcher.launch({
      argv: ['sh', '-c', script],
      env: childEnvironment({ jobId, runDir }),
      cwd: runDir,
      policy,
    });
  }

  const watch = (launched: Launched, more: Partial<SuperviseOptions> = {}): ReturnType<typeof supervise> =>
    supervise(launched, { jobId, timeoutMs: 60_000, graceMs: 10_000, clock: systemClock, ...more });

  it('ends with the exit code of the tool, and 128 and the signal for one that a signal ended', async () => {
    for (const [script, exitCode] of [
      ['exit 0', 0],
      ['exit 7', 7],
      ['kill -KILL $$', 137],
      ['kill -TERM $$', 143],
    ] as const) {
      const launched = await launch(script);
      take(launched);
      assert.deepEqual(await watch(launched), { exitCode, reason: 'exited', survivors: [] });
    }
  });

  it('has all of the output when it is over', async () => {
    const launched = await launch('head -c 3000000 /dev/zero; echo end >&2');
    const taken = take(launched);
    await watch(launched);
    assert.equal(taken.text.length, 3_000_004);
  });

  it('F12: ends the tree at the time-out, however deaf it is', async () => {
    const launched = await launch(`trap '' TERM; setsid sleep 300 & echo ready; while :; do sleep 1; done`);
    take(launched);
    assert.deepEqual(await watch(launched, { timeoutMs: 200, graceMs: 200 }), {
      exitCode: 137,
      reason: 'timeout',
      survivors: [],
    });
    assert.deepEqual(await findSurvivors(jobId, launched), []);
  });

  it('F12: ends the tree when it is cancelled, and tells the true exit code of a tool that ends in order', async () => {
    const launched = await launch(`trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done`);
    const abort = new AbortController();
    launched.stdout.once('data', () => abort.abort());
    assert.deepEqual(await watch(launched, { signal: abort.signal }), {
      exitCode: 3,
      reason: 'cancelled',
      survivors: [],
    });
  });

  it('is cancelled at once when that was asked before', async () => {
    const launched = await launch('exec sleep 300');
    take(launched);
    const { reason } = await watch(launched, { signal: AbortSignal.abort() });
    assert.equal(reason, 'cancelled');
    assert.deepEqual(await findSurvivors(jobId, launched), []);
  });

  it('keeps the first reason', async () => {
    const launched = await launch(`trap '' TERM; echo ready; while :; do sleep 0.05; done`);
    take(launched);
    const abort = new AbortController();
    const run = watch(launched, { timeoutMs: 100, graceMs: 300, signal: abort.signal });
    systemClock.after(200, () => abort.abort());
    assert.equal((await run).reason, 'timeout');
  });

  it('ends what a tool left in the background, without changing how the tool ended', async () => {
    const launched = await launch('sleep 300 & setsid sleep 301 & exit 5');
    const taken = take(launched);
    assert.deepEqual(await watch(launched), { exitCode: 5, reason: 'exited', survivors: [] });
    assert.deepEqual(await findSurvivors(jobId, launched), []);
    assert.equal(taken.text, '');
  });

  it('T82: is found by the mark, where the record of its leader is all that is left of the daemon', async () => {
    for (const privileged of [false, true]) {
      const launched = await launch(
        `trap '' TERM; env -i sh -c 'setsid sleep 300 & sleep 301 &'; echo ready; while :; do sleep 1; done`,
        privileged,
      );
      await firstLine(launched);
      const { pid, startTicks } = launched;
      const { left } = await endTree({ jobId, recorded: { pid, startTicks }, graceMs: 50, clock: systemClock });
      assert.deepEqual([left, await findSurvivors(jobId, launched)], [[], []]);
    }
  });

  it('is not held by an escaped process that keeps the output open', { skip: needs('prlimit') }, async () => {
    const launched = await launch(escaped('sleep 600'), true);
    const taken = take(launched);
    assert.deepEqual(await watch(launched), { exitCode: 0, reason: 'exited', survivors: [] });
    assert.equal(taken.text, 'said\n');
    // It is still there, and holds the output.
    process.kill(Number(readFileSync(join(runDir, 'escaped.pid'), 'utf8')), 'SIGKILL');
  });

  it('is not held by an escaped process that writes without end', { skip: needs('prlimit') }, async () => {
    // Longer than a test may take.
    const launched = await launch(escaped('timeout 600 yes'), true);
    take(launched);
    assert.equal((await watch(launched)).reason, 'exited');
  });

  /** Leaves the session and the parent with an empty environment, and says the pid. */
  const DAEMON = `env -i setsid sh -c '/bin/sleep 300 >/dev/null 2>&1 & echo $!'`;

  it('T77: ends a process that left its session with a wiped environment with its job, and not before', async () => {
    const one = await launch(`${DAEMON}; sleep 300`);
    const watchOne = watch(one, { graceMs: 0 });
    const ofOne = Number(await firstLine(one));
    const [abort, idOfOne] = [new AbortController(), jobId];
    const two = await launch(`${DAEMON}; read never < /dev/zero`);
    const watchTwo = watch(two, { graceMs: 0, signal: abort.signal });
    const ofTwo = Number(await firstLine(two));
    abort.abort();
    await watchTwo;
    assert.deepEqual([processEntry(ofOne)?.pid, processEntry(ofTwo)], [ofOne, null]);
    process.kill(one.pid, 'SIGKILL');
    await watchOne;
    assert.equal(processEntry(ofOne), null);
    assert.deepEqual(await findSurvivors(idOfOne, one), []);
  });

  it('T77: leaves no dead process of a job that made a thousand orphans', async () => {
    const launched = await launch('for i in $(seq 1000); do (: & ) ; done; echo made');
    take(launched);
    assert.equal((await watch(launched)).exitCode, 0);
    await until('each orphan is taken note of', () => {
      const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
      return children.every((pid) => processEntry(Number(pid)) !== null);
    });
  });

  it('waits for a slow reader of the output, and loses none of it', async () => {
    const launched = await launch('head -c 60000 /dev/zero');
    launched.stderr.resume();
    let bytes = 0;
    launched.stdout.pause();
    const run = watch(launched);
    systemClock.after(900, () => launched.stdout.on('data', (chunk: Buffer) => void (bytes += chunk.length)).resume());
    assert.equal((await run).exitCode, 0);
    assert.equal(bytes, 60_000);
  });

  it('rejects when the tool never started', async () => {
    const launched = await launcher.launch({
      argv: ['no-such-command'],
      env: childEnvironment({ jobId: 'job_none', runDir }),
      cwd: runDir,
      policy: null,
    });
    take(launched);
    await assert.rejects(supervise(launched, { jobId: 'job_none', timeoutMs: 1_000, graceMs: 0, clock: systemClock }), {
      name: 'CommandNotFound',
    });
  });
});
