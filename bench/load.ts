/**
 * The generator of load, in a separate process: N clients on kept connections, each sending its next request when it
 * has the answer to the last. One order on standard input, one result on standard output.
 */
import { orders, say } from './kit/child.ts';
import { freshRequests } from './kit/fresh.ts';
import type { LoadOrder, LoadResult } from './kit/load.ts';
import { HttpConnection, requestBytes } from './kit/http-client.ts';
import { percentile } from './kit/statistics.ts';
import { monotonicMs } from './kit/time.ts';

interface Tally {
  readonly latencies: number[];
  readonly statuses: Record<string, number>;
  left: number;
}

async function client(
  order: LoadOrder,
  next: () => Buffer,
  countFrom: number,
  stopAt: number,
  tally: Tally,
): Promise<void> {
  const connection = await HttpConnection.open(order.request.url);
  try {
    while (tally.left > 0) {
      const before = monotonicMs();
      if (before >= stopAt) return;
      tally.left -= 1;
      const { status } = await connection.send(next());
      if (before < countFrom) continue;
      tally.latencies.push(monotonicMs() - before);
      tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
    }
  } finally {
    connection.close();
  }
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const next = freshRequests(requestBytes(order.request));
  const countFrom = monotonicMs() + (order.warmUpMs ?? 0);
  const tally: Tally = { latencies: [], statuses: {}, left: order.count ?? Number.POSITIVE_INFINITY };
  const stopAt = countFrom + order.durationMs;
  await Promise.all(Array.from({ length: order.clients }, () => client(order, next, countFrom, stopAt, tally)));
  const seconds = (monotonicMs() - countFrom) / 1000;
  const { latencies, statuses } = tally;
  return {
    requests: latencies.length,
    statuses,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

for await (const order of orders<LoadOrder>()) say(await run(order));
