/** graphile-worker's addJob from callers in one process, on the PostgreSQL that our own figures were taken on. */
import { makeWorkerUtils } from 'graphile-worker';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';

interface Order {
  readonly url: string;
  readonly callers: number;
  readonly durationMs: number;
}

const PAYLOAD = { inventory: 'localhost', command: ['/bin/true'] };
const WARM_UP_MS = 500;

async function perSecond({ url, callers, durationMs }: Order): Promise<number> {
  const worker = await makeWorkerUtils({ connectionString: url, maxPoolSize: callers });
  try {
    await worker.migrate();
    const countFrom = monotonicMs() + WARM_UP_MS;
    let count = 0;
    const caller = async (): Promise<void> => {
      while (monotonicMs() < countFrom + durationMs) {
        await worker.addJob('command', PAYLOAD);
        if (monotonicMs() >= countFrom) count += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return count / ((monotonicMs() - countFrom) / 1000);
  } finally {
    await worker.release();
  }
}

for await (const order of orders<Order>()) say(await perSecond(order));
