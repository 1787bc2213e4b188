import { join } from 'node:path';
import type { FillOrder } from '../children/reaction-orders.ts';
import type { Bench } from '../kit/bench.ts';
import { runChild } from '../kit/child.ts';
import { type Daemon, expectStatus, startDaemon } from '../kit/daemon.ts';
import { filledDataDir } from '../kit/filled.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { residentMiB } from '../kit/process-facts.ts';
import { median, percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep } from '../kit/time.ts';

const JOBS = 10_000;
const EVENTS = 50_000;
const TABS = 200;
/** What tabs look at. */
const PAGES = ['/', '/jobs', '/events', '/approvals', '/checks'];
const WARM_UP = 50;
const MEMORY_SAMPLES = 20;
const MEMORY_EVERY_MS = 50;

/** Of a path of the console. */
function urlOf(daemon: Daemon, path: string): string {
  return daemon.url('').replace(/\/api\/v1$/, path);
}

async function memory(daemon: Daemon): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < MEMORY_SAMPLES; i += 1) {
    samples.push(residentMiB(daemon.pid));
    await sleep(MEMORY_EVERY_MS);
  }
  return median(samples);
}

/** Milliseconds of each of `count` visits, one after another. */
async function visits(daemon: Daemon, path: string, count: number): Promise<number[]> {
  const url = urlOf(daemon, path);
  const connection = await HttpConnection.open(url);
  const request = requestBytes({ method: 'GET', url, headers: daemon.headers });
  const samples: number[] = [];
  try {
    for (let i = 0; i < count; i += 1) {
      const before = monotonicMs();
      const response = await connection.send(request);
      samples.push(monotonicMs() - before);
      expectStatus(response, 200);
    }
  } finally {
    connection.close();
  }
  return samples;
}

/** One stream for each browser is what the tests of the browser show; here each tab has a connection, as at worst. */
async function tabs(daemon: Daemon, rounds: number): Promise<void> {
  const open: HttpConnection[] = [];
  try {
    for (let i = 0; i < TABS; i += 1) open.push(await HttpConnection.open(daemon.url('')));
    for (let round = 0; round < rounds; round += 1)
      await Promise.all(
        open.map(async (connection, i) => {
          const url = urlOf(daemon, PAGES[(i + round) % PAGES.length] ?? '/');
          expectStatus(await connection.send(requestBytes({ method: 'GET', url, headers: daemon.headers })), 200);
        }),
      );
  } finally {
    for (const connection of open) connection.close();
  }
}

/** Pages of the console where much is stored, and many of them open. */
export async function consolePages({ report, quick }: Bench): Promise<void> {
  const dataDir = await filledDataDir(JOBS);
  const file = join(dataDir, 'gatehouse.db');
  await runChild('children/event-filler.ts', { file, count: EVENTS } satisfies FillOrder);
  const daemon = await startDaemon({ dataDir });
  try {
    for (const path of PAGES) await visits(daemon, path, WARM_UP);
    const note = `${JOBS} jobs, ${EVENTS} events`;
    for (const path of ['/', '/jobs', '/events']) {
      const samples = await visits(daemon, path, quick ? 200 : 1_000);
      const goal = path === '/' ? { goal: { atMost: 50 } } : {};
      report.add({ name: `page ${path}: p95`, value: percentile(samples, 0.95), unit: 'ms', note, ...goal });
    }
    const before = await memory(daemon);
    await tabs(daemon, quick ? 5 : 20);
    const above = Math.max(0, (await memory(daemon)) - before);
    report.add({ name: `memory after ${TABS} open tabs, above`, value: above, unit: 'MiB', goal: { atMost: 64 } });
  } finally {
    await daemon.stop();
  }
}
