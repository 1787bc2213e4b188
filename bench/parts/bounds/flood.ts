import { askFor } from '../../kit/asking.ts';
import type { Bench } from '../../kit/bench.ts';
import { queueCommand, startDaemon, type Daemon } from '../../kit/daemon.ts';
import { removeDir } from '../../kit/scratch.ts';
import { median, percentile } from '../../kit/statistics.ts';

const WRITERS = 8;
const LINE = 'x'.repeat(99);
const CAP_LINES = Math.floor((256 * 1024 * 1024) / (LINE.length + 1));
const MARK = 'Output limit of 256 MiB reached';

/** How many of the jobs met the cap and say so: the mark follows the last line that is kept. */
async function marked(daemon: Daemon, jobs: readonly string[]): Promise<number> {
  let count = 0;
  for (const id of jobs) {
    const { body } = await daemon.ask('GET', `/jobs/${id}/events?since=${CAP_LINES - 10}`);
    if (body.includes(MARK)) count += 1;
  }
  return count;
}

/** Eight jobs at once that write without end. */
export async function flood({ report, quick }: Bench): Promise<void> {
  const daemon = await startDaemon();
  try {
    const before = await askFor(daemon, quick ? 1_000 : 3_000);
    const jobs: string[] = [];
    for (let i = 0; i < WRITERS; i += 1) jobs.push(await queueCommand(daemon, ['/usr/bin/yes', LINE]));
    const during = await askFor(daemon, quick ? 8_000 : 60_000);
    const base = { name: 'idle', value: median(before.memory) };
    const growth = Math.max(...during.memory) - base.value;
    report.add({
      name: '8 jobs write without end: resident memory, growth',
      value: growth,
      unit: 'MiB',
      floor: base,
      goal: { atMost: 64 },
    });
    const quiet = { name: 'idle', value: percentile(before.latencies, 0.5) };
    report.add({
      name: '8 jobs write without end: API p50',
      value: percentile(during.latencies, 0.5),
      unit: 'ms',
      floor: quiet,
    });
    report.add({
      name: '8 jobs write without end: API p99',
      value: percentile(during.latencies, 0.99),
      unit: 'ms',
      floor: quiet,
      goal: { atMost: 100 },
    });
    const goal = quick ? {} : { goal: { atLeast: WRITERS } };
    report.add({
      name: '8 jobs write without end: met the cap and say so',
      value: await marked(daemon, jobs),
      unit: '',
      ...goal,
    });
    for (const id of jobs) await daemon.ask('POST', `/jobs/${id}/cancel`);
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
