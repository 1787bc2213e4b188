import { join } from 'node:path';
import type { Enqueued } from '../children/orders.ts';
import { startFloorServer } from '../floors/server.ts';
import type { Bench } from '../kit/bench.ts';
import { NODE_FLAGS } from '../kit/daemon.ts';
import { openChild, type Child } from '../kit/child.ts';
import { load } from '../kit/load.ts';
import { passableTempDir, removeDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { sleep } from '../kit/time.ts';

const PAUSE_MS = 70;
const PAUSE_SPREAD_MS = 40;

/** What one durable request costs at least: a bare server that commits each before it answers. */
async function oneRequest(dir: string): Promise<{ p50Ms: number; p99Ms: number }> {
  const server = await startFloorServer({ mode: 'insert', file: join(dir, 'floor.db') });
  try {
    const request = { method: 'POST', url: server.url, body: '{"inventory":"localhost"}' };
    return await load({ request, clients: 1, durationMs: 500, warmUpMs: 200 }, 202);
  } finally {
    await server.end();
  }
}

/** From queueing a job to its state `running` on disk, when nothing else happens. */
export async function latency({ report, quick }: Bench): Promise<void> {
  const count = quick ? 25 : 150;
  const dir = passableTempDir('latency');
  const data = join(dir, 'data');
  const one = await oneRequest(dir);
  const floor = { name: 'one request to a bare node:http that commits: p50', value: one.p50Ms };
  const worst = { name: 'one request to a bare node:http that commits: p99', value: one.p99Ms };
  const daemon = openChild<unknown>('children/daemon.ts', { logFile: join(dir, 'daemon.log'), flags: NODE_FLAGS });
  try {
    await daemon.ask({ do: 'start', dataDir: data });
    const http = (await daemon.ask({ do: 'http', count })) as number[];
    report.add({
      name: 'request sent to running, same process: p50',
      value: percentile(http, 0.5),
      unit: 'ms',
      floor,
      goal: { atMost: 4 },
    });
    report.add({
      name: 'request sent to running, same process: p99',
      value: percentile(http, 0.99),
      unit: 'ms',
      floor: worst,
      goal: { atMost: 15 },
    });
    const called = (await daemon.ask({ do: 'invoke', count: Math.ceil(count / 2) })) as number[];
    report.add({ name: 'the same without HTTP: p50', value: percentile(called, 0.5), unit: 'ms', floor });
    await fromOutside({ report, quick }, daemon, data, floor);
    await daemon.ask({ do: 'stop' });
  } finally {
    await daemon.end();
    removeDir(dir);
  }
}

async function fromOutside(
  { report, quick }: Bench,
  daemon: Child<unknown>,
  dataDir: string,
  floor: { name: string; value: number },
): Promise<void> {
  const enqueuer = openChild<Enqueued>('children/enqueuer.ts');
  const called: number[] = [];
  const committed: number[] = [];
  try {
    await enqueuer.ask({ do: 'open', dataDir });
    daemon.tell({ do: 'watch' });
    for (let i = 0; i < (quick ? 25 : 100); i += 1) {
      const queued = await enqueuer.ask({ do: 'one' });
      const { jobId, startedAt } = (await daemon.next()) as { jobId: string; startedAt: number };
      if (jobId !== queued.jobId) throw new Error(`expected ${queued.jobId} to start, but ${jobId} did`);
      called.push(startedAt - queued.calledAt);
      committed.push(startedAt - queued.committedAt);
      await sleep(PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
    }
  } finally {
    await enqueuer.end();
  }
  report.add({
    name: 'call to running, from another process: p50',
    value: percentile(called, 0.5),
    unit: 'ms',
    floor,
    goal: { atMost: 10 },
  });
  report.add({
    name: 'call to running, from another process: p99',
    value: percentile(called, 0.99),
    unit: 'ms',
    floor,
  });
  report.add({
    name: 'commit to running, from another process: p50',
    value: percentile(committed, 0.5),
    unit: 'ms',
    floor,
  });
}
