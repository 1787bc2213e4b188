import { join } from 'node:path';
import { prepareDataDir } from '../../../src/config/data-dir.ts';
import type { FillOrder, Read, ReadOrder } from '../../children/reaction-orders.ts';
import type { Bench } from '../../kit/bench.ts';
import { openChild, runChild } from '../../kit/child.ts';
import { residentMiB } from '../../kit/process-facts.ts';
import { number } from '../../kit/report.ts';
import { median, percentile } from '../../kit/statistics.ts';
import { sleep } from '../../kit/time.ts';
import { API, ASK_EVERY_MS, whileAsking, withDaemon } from './drive.ts';

/** The memory of the daemon while `work` is under way, at its highest. */
async function peakMiB<T>(pid: number, work: Promise<T>): Promise<{ result: T; peak: number }> {
  let peak = residentMiB(pid);
  const watch = setInterval(() => (peak = Math.max(peak, residentMiB(pid))), ASK_EVERY_MS);
  try {
    return { result: await work, peak };
  } finally {
    clearInterval(watch);
  }
}

/** The whole ledger in one answer: its time, its memory, and other calls while it is sent. */
export async function ledger({ report, quick }: Bench, dir: string): Promise<void> {
  const count = quick ? 100_000 : 1_000_000;
  const dataDir = join(dir, 'filled');
  const { database } = await prepareDataDir(dataDir);
  await runChild('children/event-filler.ts', { file: database, count } satisfies FillOrder);
  await withDaemon(dataDir, join(dir, 'filled.log'), async (daemon) => {
    const rest: number[] = [];
    const quiet = await whileAsking(daemon, sampleRest(daemon.pid, rest));
    const reader = openChild<Read>('children/hook-senders.ts');
    try {
      const order: ReadOrder = { do: 'read', url: `${daemon.webUrl}${API}/events?limit=0`, headers: daemon.headers };
      const { result, peak } = await peakMiB(daemon.pid, whileAsking(daemon, reader.ask(order)));
      const { rows, bytes, ms } = result.result;
      if (rows !== count) throw new Error(`the list has ${rows} events of ${count}`);
      const name = `GET /events?limit=0 of ${number(count)}`;
      report.add({ name, value: ms / 1000, unit: 's', note: `${number(bytes / 1e6)} MB` });
      report.add({ name: `${name}: memory above rest`, value: peak - median(rest), unit: 'MiB', goal: { atMost: 64 } });
      const floor = { name: 'the same without it', value: percentile(quiet.latencies, 0.99) };
      report.add({
        name: `${name}: other calls p99`,
        value: percentile(result.latencies, 0.99),
        unit: 'ms',
        floor,
        goal: { atMost: 100 },
      });
    } finally {
      await reader.end();
    }
  });
}

async function sampleRest(pid: number, rest: number[]): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    await sleep(50);
    rest.push(residentMiB(pid));
  }
}
