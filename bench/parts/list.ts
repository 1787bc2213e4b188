import { startFloorServer } from '../floors/server.ts';
import type { Bench } from '../kit/bench.ts';
import { expectStatus, getData, startDaemon, type Daemon } from '../kit/daemon.ts';
import { filledDataDir } from '../kit/filled.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { load } from '../kit/load.ts';
import { inTurn, percentile } from '../kit/statistics.ts';
import { monotonicMs } from '../kit/time.ts';

export const MILLION = 1_000_000;
const MANY = 16;
const PATH = '/jobs?limit=50';

/** Each answer is built again, because a write came before it. */
async function afterWrites(daemon: Daemon, count: number): Promise<number[]> {
  const connection = await HttpConnection.open(daemon.url(PATH));
  const { headers } = daemon;
  const write = requestBytes({ method: 'POST', url: daemon.url('/maintenance/cordon'), headers });
  const read = requestBytes({ method: 'GET', url: daemon.url(PATH), headers });
  const samples: number[] = [];
  try {
    for (let i = 0; i < count; i += 1) {
      expectStatus(await connection.send(write), 200);
      const before = monotonicMs();
      const response = await connection.send(read);
      samples.push(monotonicMs() - before);
      expectStatus(response, 200);
    }
  } finally {
    connection.close();
  }
  return samples;
}

/** The newest 50 of a million jobs. */
export async function list({ report, quick }: Bench): Promise<void> {
  const daemon = await startDaemon({ dataDir: await filledDataDir(MILLION) });
  try {
    const samples = await afterWrites(daemon, quick ? 200 : 1_000);
    const body = (await daemon.ask('GET', PATH)).body.toString();
    if ((await getData<unknown[]>(daemon, PATH)).length !== 50) throw new Error('the list has not 50 jobs');
    const server = await startFloorServer({ mode: 'bytes', body });
    try {
      const durationMs = quick ? 1_000 : 2_000;
      const drive = (url: string, clients: number) =>
        load({ request: { method: 'GET', url, headers: daemon.headers }, clients, durationMs, warmUpMs: 500 }, 200);
      const one = await drive(server.url, 1);
      const p50 = { name: 'bare node:http, the same bytes: p50', value: one.p50Ms };
      const p99 = { name: 'bare node:http, the same bytes: p99', value: one.p99Ms };
      report.add({
        name: 'GET /jobs?limit=50 of 1,000,000, after a write: p50',
        value: percentile(samples, 0.5),
        unit: 'ms',
        floor: p50,
      });
      report.add({
        name: 'GET /jobs?limit=50 of 1,000,000, after a write: p99',
        value: percentile(samples, 0.99),
        unit: 'ms',
        floor: p99,
        goal: { atMost: 5 },
      });
      for (const url of [server.url, daemon.url(PATH)]) await drive(url, MANY);
      const rates = await inTurn(quick ? 1 : 3, {
        floor: async () => (await drive(server.url, MANY)).perSecond,
        ours: async () => (await drive(daemon.url(PATH), MANY)).perSecond,
      });
      const bare = { name: 'bare node:http, the same bytes', value: rates.floor };
      report.add({
        name: 'the same repeated, nothing changed, 16 clients',
        value: rates.ours,
        unit: '/s',
        floor: bare,
        goal: { ratioAtLeast: 0.7 },
      });
    } finally {
      await server.end();
    }
  } finally {
    await daemon.stop();
  }
}
