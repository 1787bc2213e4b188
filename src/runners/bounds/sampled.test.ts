import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { createLauncher } from '../launch/launch.ts';
import { openMachine } from '../launch/machine.ts';
import { childEnvironment } from '../process/environment.ts';
import { supervise } from '../process/supervise.ts';
import { findSurvivors } from '../process/tree.ts';
import { SampledBounds } from './sampled.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_SANDBOX = needs('Linux', 'Landlock ABI 4');
const MIB = 2 ** 20;
const LIMITS = { memoryBytes: 200 * MIB, processes: 40 };
const TOO_MUCH = 'The job used more than 200 MiB of memory and was ended.';
const TOO_MANY = 'The job had more than 40 processes and threads and was ended.';

let count = 0;

describe('a job without a control group', { skip: NO_SANDBOX }, () => {
  let runDir: string;

  before(() => {
    runDir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-sampled-')));
  });
  after(() => rmSync(runDir, { recursive: true }));

  /** Runs a perl script as a job; it has at most a minute, whatever happens to the test. */
  async function run(
    script: string,
    adopted: () => readonly number[] | null = () => openMachine().children.adopted(),
  ): Promise<{ lines: readonly string[]; exitCode: number | null; output: string; left: number }> {
    count += 1;
    const jobId = `job_sampled_${process.pid}_${count}`;
    const bounds = new SampledBounds({ limits: LIMITS, jobs: 1, clock: systemClock, because: 'of the test', adopted });
    const program = bounds.open(jobId, null, null);
    const launched = await createLauncher().launch({
      argv: ['timeout', '--signal=KILL', '60', 'perl', '-e', script],
      env: childEnvironment({ jobId, runDir }),
      cwd: runDir,
      policy: { readable: [], writable: [runDir], connectPorts: [] },
      ...program.order,
    });
    program.watch(launched);
    let output = '';
    launched.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
    const { exitCode } = await supervise(launched, { jobId, timeoutMs: 60_000, graceMs: 5_000, clock: systemClock });
    const lines = await program.end();
    return { lines, exitCode, output, left: (await findSurvivors(jobId, launched)).length };
  }

  it('T78: is ended when its memory is above the limit, and its output names the limit', async () => {
    const ran = await run('my $all; $all .= "x" x (1 << 20) for 1..1000; print "filled"; sleep 60');
    assert.deepEqual(ran, { lines: [TOO_MUCH], exitCode: 137, output: '', left: 0 });
  });

  it('T78: is ended when the memory of its processes together is above the limit', async () => {
    const ran = await run('for (1..4) { fork or do { my $x = "x" x (80 << 20); sleep 60; exit } } wait for 1..4');
    assert.deepEqual([ran.lines, ran.left], [[TOO_MUCH], 0]);
  });

  it('may have memory that several processes share, and that is counted once', async () => {
    const script =
      'my $x = "x" x (60 << 20); ' +
      'my @p = map { my $p = fork; if (!$p) { select undef, undef, undef, 1; exit } $p } 1..6; ' +
      'waitpid $_, 0 for @p; print "done"';
    assert.deepEqual(await run(script), { lines: [], exitCode: 0, output: 'done', left: 0 });
  });

  for (const [what, script] of [
    ['in its group', 'for (1..1000) { fork or do { sleep 60; exit } } sleep 60'],
    ['in separate sessions', 'use POSIX; for (1..1000) { fork or do { setsid; sleep 60; exit } } sleep 60'],
    [
      'whose parents have ended',
      'use POSIX; for (1..1000) { my $p = fork; if (!$p) { setsid; fork and exit; sleep 60; exit } waitpid $p, 0 } ' +
        'sleep 60',
    ],
    ['that fork on', 'my $n = 0; while ($n++ < 9) { fork } sleep 60'],
  ] as const) {
    it(`T78: is ended when it has too many processes ${what}`, async () => {
      const ran = await run(script);
      assert.deepEqual(ran, { lines: [TOO_MANY], exitCode: 137, output: '', left: 0 });
    });
  }

  it('T78: is found by the process table where the kernel does not list children', async () => {
    const ran = await run('for (1..100) { fork or do { sleep 60; exit } } sleep 60', () => null);
    assert.deepEqual([ran.lines, ran.left], [[TOO_MANY], 0]);
  });
});
