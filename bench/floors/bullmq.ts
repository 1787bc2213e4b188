/**
 * BullMQ on the Redis that the order names: from adding a job to the first statement of its handler. Queue and worker
 * share this process, which is the case that favours BullMQ, and no program is started.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';

export interface BullOrder {
  readonly port: number;
  readonly count: number;
}

const QUEUE = 'bench';
const PAUSE_MS = 20;

/** Milliseconds of each sample; the first, which loads the scripts, is left out. */
async function samples({ port, count }: BullOrder): Promise<number[]> {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  let handled = Promise.withResolvers<number>();
  const queue = new Queue(QUEUE, { connection });
  const worker = new Worker(
    QUEUE,
    () => {
      handled.resolve(monotonicMs());
      return Promise.resolve();
    },
    { connection },
  );
  const times: number[] = [];
  try {
    await worker.waitUntilReady();
    for (let i = 0; i <= count; i += 1) {
      handled = Promise.withResolvers();
      const before = monotonicMs();
      await queue.add('command', { inventory: 'localhost', command: ['/bin/true'] });
      const startedAt = await handled.promise;
      if (i > 0) times.push(startedAt - before);
      await sleep(PAUSE_MS);
    }
    return times;
  } finally {
    await worker.close();
    await queue.close();
  }
}

for await (const order of orders<BullOrder>()) say(await samples(order));
