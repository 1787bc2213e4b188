import { join } from 'node:path';
import { packageInstalled } from '../floors/peers.ts';
import type { PlainjobOrder } from '../floors/plainjob.ts';
import type { SpawnOrder } from '../floors/spawner.ts';
import type { Bench } from '../kit/bench.ts';
import { openChild } from '../kit/child.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../kit/daemon.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { load } from '../kit/load.ts';
import { processorSeconds } from '../kit/process-facts.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { inTurn, median } from '../kit/statistics.ts';
import { monotonicMs, until } from '../kit/time.ts';

const TOOL = '/bin/true';
/** The default of --max-jobs, and twice that; the goal of each is a share of bare spawns of as many at a time. */
const SLOTS = [
  { slots: 8, ratioAtLeast: 0.6 },
  { slots: 16, ratioAtLeast: 0.8 },
] as const;
const CPU_PER_JOB_MS = 2;
/** Not counted: the first jobs start the guard and compile the code, at twice the processor time of those after 500. */
const WARM_UP_JOBS = 500;

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
    await workOff(daemon, slots, WARM_UP_JOBS);
    await peer?.perSecond(WARM_UP_JOBS);
    const rates = await inTurn(quick ? 1 : 3, {
      spawns: () => spawner.ask({ program: TOOL, slots, count } satisfies SpawnOrder),
      plainjob: () => peer?.perSecond(count) ?? Number.NaN,
      ours: async () => {
        const worked = await workOff(daemon, slots, count);
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

/** Queues `count` jobs while nothing may be claimed; answers the time and the processor time that their runs took. */
async function workOff(daemon: Daemon, slots: number, count: number): Promise<{ ms: number; usedMs: number }> {
  await daemon.ask('POST', '/maintenance/cordon');
  const body = JSON.stringify({ inventory: 'localhost', command: [TOOL] });
  const request = { method: 'POST', url: daemon.url('/commands/run'), headers: daemon.headers, body };
  await load({ request, clients: slots, durationMs: 60_000, count }, 202);
  // One kept connection: what asks must not be what is measured.
  const connection = await HttpConnection.open(daemon.url(''));
  const get = async <T>(path: string): Promise<T> => {
    const response = await connection.send(
      requestBytes({ method: 'GET', url: daemon.url(path), headers: daemon.headers }),
    );
    expectStatus(response, 200);
    return (JSON.parse(response.body.toString()) as { data: T }).data;
  };
  try {
    const usedBefore = processorSeconds(daemon.pid);
    const before = monotonicMs();
    await daemon.ask('POST', '/maintenance/uncordon');
    await until('all jobs ended', 120_000, 20, async () => {
      if ((await get<unknown[]>('/jobs?state=queued&limit=1')).length > 0) return false;
      return (await get<{ in_flight: number }>('/maintenance/readiness')).in_flight === 0;
    });
    return { ms: monotonicMs() - before, usedMs: (processorSeconds(daemon.pid) - usedBefore) * 1000 };
  } finally {
    connection.close();
  }
}
