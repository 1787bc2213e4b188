import { spawnsPerSecond } from '../floors/programs.ts';
import type { Bench } from '../kit/bench.ts';
import { getData, startDaemon } from '../kit/daemon.ts';
import { load } from '../kit/load.ts';
import { removeDir } from '../kit/scratch.ts';
import { monotonicMs, until } from '../kit/time.ts';

const TOOL = '/bin/true';
/** As many as the daemon runs at a time by default. */
const SLOTS = 8;

/** Jobs that do nothing, from the queue to their end: claim, run in the sandbox, record, finish. */
export async function throughput({ report, quick }: Bench): Promise<void> {
  const count = quick ? 80 : 500;
  const daemon = await startDaemon();
  try {
    await daemon.ask('POST', '/maintenance/cordon');
    const body = JSON.stringify({ inventory: 'localhost', command: [TOOL] });
    const request = { method: 'POST', url: daemon.url('/commands/run'), headers: daemon.headers, body };
    await load({ request, clients: SLOTS, durationMs: 60_000, count }, 202);
    const before = monotonicMs();
    await daemon.ask('POST', '/maintenance/uncordon');
    await until('all jobs ended', 120_000, 20, async () => {
      const queued = await getData<unknown[]>(daemon, '/jobs?state=queued&limit=1');
      if (queued.length > 0) return false;
      return (await getData<{ in_flight: number }>(daemon, '/maintenance/readiness')).in_flight === 0;
    });
    const perSecond = count / ((monotonicMs() - before) / 1000);
    const failed = await getData<unknown[]>(daemon, '/jobs?state=failed&limit=1');
    if (failed.length > 0) throw new Error(`a job of ${TOOL} failed: ${JSON.stringify(failed)}`);
    const floor = { name: `bare spawns, ${SLOTS} at a time`, value: await spawnsPerSecond(TOOL, SLOTS, count) };
    report.add({ name: 'no-op jobs from the queue to their end', value: perSecond, unit: '/s', floor });
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
