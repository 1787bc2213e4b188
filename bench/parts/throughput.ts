import { join } from 'node:path';
import { packageInstalled } from '../floors/peers.ts';
import type { PlainjobOrder } from '../floors/plainjob.ts';
import type { SpawnOrder } from '../floors/spawner.ts';
import type { Bench } from '../kit/bench.ts';
import { openChild } from '../kit/child.ts';
import { getData, startDaemon } from '../kit/daemon.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { inTurn, median } from '../kit/statistics.ts';
import { TOOL, WARM_UP_JOBS, workOff } from '../kit/work-off.ts';

/** The default of --max-jobs, and twice that; the goal of each is a share of bare spawns of as many at a time. */
const SLOTS = [
  { slots: 8, ratioAtLeast: 0.6 },
  { slots: 16, ratioAtLeast: 0.8 },
] as const;
const CPU_PER_JOB_MS = 2;

/** Jobs that do nothing, from the queue to their end: claim, run in the sandbox, record, finish. */
export async function throughput(bench: Bench): Promise<void> {
  for (const each of SLOTS) await jobsPerSecond(bench, each.slots, each.ratioAtLeast);
}

async function jobsPerSecond({ report, quick }: Bench, slots: number, ratioAtLeast: number): Promise<void> {
  const count = quick ? 200 : 500;
  const daemon = await startDaemon({ flags: ['--max-jobs', String(slots)] });
  const spawner = openChild<number>('floors/spawner.ts');
  const peer = openPlainjob(slots);
  const usedMs: number[] = [];
  try {
    await workOff([daemon], slots, WARM_UP_JOBS);
    await peer?.perSecond(WARM_UP_JOBS);
    const rates = await inTurn(quick ? 1 : 3, {
      spawns: () => spawner.ask({ program: TOOL, slots, count } satisfies SpawnOrder),
      plainjob: () => peer?.perSecond(count) ?? Number.NaN,
      ours: async () => {
        const worked = await workOff([daemon], slots, count);
        usedMs.push(worked.usedMs / count);
        return count / (worked.ms / 1000);
      },
    });
    const failed = await getData<unknown[]>(daemon, '/jobs?state=failed&limit=1');
    if (failed.length > 0) throw new Error(`a job of ${TOOL} failed: ${JSON.stringify(failed)}`);
    const figure = { name: `no-op jobs from the queue to their end, ${slots} slots`, value: rates.ours } as const;
    const floor = { name: `bare spawns, ${slots} at a time`, value: rates.spawns };
    report.add({ ...figure, unit: '/s', floor, goal: { ratioAtLeast } });
    const processor = `the same: processor of the daemon per job`;
    report.add({ name: processor, value: median(usedMs), unit: 'ms', goal: { atMost: CPU_PER_JOB_MS } });
    if (peer === null) report.failed('plainjob', new Error('the package plainjob is not installed'));
    else {
      const name = `plainjob, ${slots} workers in one process that spawn it, no sandbox, no audit`;
      report.add({ ...figure, unit: '/s', floor: { name, value: rates.plainjob } });
    }
  } finally {
    await Promise.all([daemon.stop(), spawner.end(), peer?.end()]);
    removeDir(daemon.dataDir);
  }
}

interface Plainjob {
  perSecond(count: number): Promise<number>;
  end(): Promise<void>;
}

/** A process with plainjob in it, which stays as the daemon does; null where the package is not installed. */
function openPlainjob(slots: number): Plainjob | null {
  if (!packageInstalled('plainjob')) return null;
  const dir = tempDir('plainjob');
  const file = join(dir, 'plainjob.db');
  const child = openChild<number>('floors/plainjob.ts');
  return {
    perSecond: (count) => child.ask({ do: 'run', file, program: TOOL, slots, count } satisfies PlainjobOrder),
    async end() {
      await child.end();
      removeDir(dir);
    },
  };
}
