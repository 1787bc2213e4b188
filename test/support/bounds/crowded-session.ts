/** A program with a separate session that watches a job while processes multiply: says when it was preferred. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/lib/clock.ts';
import { SampledBounds } from '../../../src/runners/bounds/sampled.ts';

const CROWD = 60;
const LOOKS_MAX = 1_500;

const isPreferred = (): boolean =>
  / nice -20$/m.test(readFileSync('/proc/self/autogroup', 'latin1')) && getPriority() === -20;

/** Whether it was so within half a minute. */
async function becomes(preferred: boolean): Promise<boolean> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    if (isPreferred() === preferred) return true;
    await pause(20);
  }
  return false;
}

const bounds = new SampledBounds({
  limits: { memoryBytes: 2 ** 40, processes: 100_000 },
  jobs: 1,
  clock: systemClock,
  because: 'of the test',
  adopted: () => [],
});
const job = bounds.open('job_crowded', null, null);
const before = isPreferred();
job.watch({ pid: process.pid, startTicks: 0 });
const crowd = Array.from({ length: CROWD }, () => spawn('sleep', ['60'], { stdio: 'ignore' }));
const during = await becomes(true);
// Prints the weight that it was started with.
const child = Number(execFileSync('nice', { encoding: 'utf8' }));
const ends = crowd.map((each) => once(each, 'exit'));
for (const each of crowd) each.kill('SIGKILL');
await Promise.all(ends);
await job.end();
console.log(JSON.stringify({ before, during, child, after: !(await becomes(false)) }));
