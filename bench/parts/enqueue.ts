import { join } from 'node:path';
import { rawInsertsPerSecond } from '../floors/insert.ts';
import { packageInstalled } from '../floors/peers.ts';
import type { PlainjobOrder } from '../floors/plainjob.ts';
import { startFloorServer } from '../floors/server.ts';
import type { Bench } from '../kit/bench.ts';
import { runChild } from '../kit/child.ts';
import { startDaemon } from '../kit/daemon.ts';
import { load, type LoadResult } from '../kit/load.ts';
import type { Report } from '../kit/report.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { inTurn, median } from '../kit/statistics.ts';

const MANY = 16;
const BODY = JSON.stringify({ inventory: 'localhost', command: ['/bin/true'] });

/** Durable enqueues over HTTP: authenticated, validated, with their ledger row, while nothing may be claimed. */
export async function enqueue({ report, quick }: Bench): Promise<void> {
  const rounds = quick ? 1 : 3;
  const durationMs = quick ? 1_000 : 2_000;
  const dir = tempDir('enqueue');
  const floor = await startFloorServer({ mode: 'insert', file: join(dir, 'floor.db') });
  const plain = await startFloorServer({ mode: 'bytes', body: '{"ok":true}\n' });
  const daemon = await startDaemon();
  await daemon.ask('POST', '/maintenance/cordon');
  const p99: number[] = [];
  const p50 = { ours: [] as number[], floor: [] as number[] };
  const drive = async (url: string, clients: number): Promise<LoadResult> => {
    const request = { method: 'POST', url, headers: daemon.headers, body: BODY };
    return load({ request, clients, durationMs, warmUpMs: 500 }, url === plain.url ? 200 : 202);
  };
  try {
    // What is asked for are rates that last: the first thousands of a process that has just started do not count.
    for (const url of [floor.url, daemon.url('/commands/run')]) await drive(url, MANY);
    const rates = await inTurn(rounds, {
      raw: () => rawInsertsPerSecond(durationMs),
      plainjob: () => plainjobAdds(join(dir, 'plainjob.db'), durationMs),
      plain: async () => (await drive(plain.url, MANY)).perSecond,
      floorOne: async () => {
        const result = await drive(floor.url, 1);
        p50.floor.push(result.p50Ms);
        return result.perSecond;
      },
      one: async () => {
        const result = await drive(daemon.url('/commands/run'), 1);
        p50.ours.push(result.p50Ms);
        return result.perSecond;
      },
      floorMany: async () => (await drive(floor.url, MANY)).perSecond,
      many: async () => {
        const result = await drive(daemon.url('/commands/run'), MANY);
        p99.push(result.p99Ms);
        return result.perSecond;
      },
    });
    addFigures(report, rates, median(p99), { ours: median(p50.ours), floor: median(p50.floor) });
  } finally {
    await Promise.all([floor.end(), plain.end(), daemon.stop()]);
    removeDir(dir);
    removeDir(daemon.dataDir);
  }
}

/** Adds a second, or NaN where plainjob is not installed. */
function plainjobAdds(file: string, durationMs: number): number | Promise<number> {
  if (!packageInstalled('plainjob')) return Number.NaN;
  return runChild<number>('floors/plainjob.ts', { do: 'add', file, durationMs } satisfies PlainjobOrder);
}

type Rates = Readonly<Record<'raw' | 'plainjob' | 'plain' | 'floorOne' | 'one' | 'floorMany' | 'many', number>>;

function addFigures(report: Report, rates: Rates, p99Ms: number, p50Ms: Record<'ours' | 'floor', number>): void {
  const raw = { name: 'raw inserts, a commit each', value: rates.raw };
  const grouped = { name: 'bare node:http, grouped commits', value: rates.floorMany };
  report.add({
    name: 'enqueues over HTTP, 16 clients',
    value: rates.many,
    unit: '/s',
    floor: raw,
    goal: { ratioAtLeast: 1.2 },
  });
  report.add({
    name: 'enqueues over HTTP, 16 clients',
    value: rates.many,
    unit: '/s',
    floor: grouped,
    goal: { ratioAtLeast: 0.45 },
  });
  report.add({
    name: 'enqueues over HTTP, 16 clients',
    value: rates.many,
    unit: '/s',
    floor: { name: 'bare node:http that stores nothing', value: rates.plain },
  });
  report.add({ name: 'enqueues over HTTP, 16 clients: p99', value: p99Ms, unit: 'ms' });
  const alone = { name: 'bare node:http, grouped commits, 1 client', value: rates.floorOne };
  report.add({ name: 'enqueues over HTTP, 1 client', value: rates.one, unit: '/s', floor: alone });
  report.add({
    name: 'enqueues over HTTP, 1 client: p50',
    value: p50Ms.ours,
    unit: 'ms',
    floor: { name: 'bare node:http, grouped commits, 1 client: p50', value: p50Ms.floor },
    goal: { ratioAtMost: 2 },
  });
  if (Number.isNaN(rates.plainjob)) {
    report.failed('plainjob', new Error('the package plainjob is not installed'));
    return;
  }
  // plainjob is a library: no request crosses a socket and no record says who asked.
  const peer = { name: "plainjob's add in one process, no HTTP, no audit, a commit each", value: rates.plainjob };
  report.add({ name: 'enqueues over HTTP with audit, 16 clients', value: rates.many, unit: '/s', floor: peer });
  report.add({ name: 'enqueues over HTTP with audit, 1 client', value: rates.one, unit: '/s', floor: peer });
}
