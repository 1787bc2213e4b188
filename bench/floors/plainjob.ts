/**
 * plainjob in one process, on a file of SQLite with our durability: `add` counts adds a second, each its own commit;
 * `run` counts jobs a second that workers in this process take from the queue, start a program for, and record as done.
 */
import { defineQueue, defineWorker, type Logger, type Queue } from 'plainjob';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import { plainjobConnection } from './plainjob-connection.ts';
import { runMs } from './programs.ts';

export type PlainjobOrder =
  | { readonly do: 'add'; readonly file: string; readonly durationMs: number }
  | {
      readonly do: 'run';
      readonly file: string;
      readonly program: string;
      readonly slots: number;
      readonly count: number;
    };

const TYPE = 'command';
const WARM_UP_MS = 500;
const nothing = (): void => undefined;
/** Standard output belongs to the answers. */
const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: (message) => console.error(message) };

function addsPerSecond(queue: Queue, durationMs: number): number {
  const payload = { inventory: 'localhost', command: ['/bin/true'] };
  const countFrom = monotonicMs() + WARM_UP_MS;
  let count = 0;
  while (monotonicMs() < countFrom + durationMs) {
    queue.add(TYPE, payload);
    if (monotonicMs() >= countFrom) count += 1;
  }
  return count / ((monotonicMs() - countFrom) / 1000);
}

/** Queues all jobs first. A worker runs one job at a time, so there is one worker for each slot. */
async function runsPerSecond(queue: Queue, program: string, slots: number, count: number): Promise<number> {
  const payload = { inventory: 'localhost', command: [program] };
  queue.addMany(
    TYPE,
    Array.from({ length: count }, () => payload),
  );
  const end = Promise.withResolvers<number>();
  let left = count;
  const onCompleted = (): void => {
    left -= 1;
    if (left === 0) end.resolve(monotonicMs());
  };
  const onFailed = (_job: unknown, error: string): void => end.reject(new Error(error));
  const work = async (): Promise<void> => void (await runMs(program, []));
  const workers = Array.from({ length: slots }, () =>
    defineWorker(TYPE, work, { queue, logger, onCompleted, onFailed }),
  );
  const before = monotonicMs();
  const running = workers.map((worker) => worker.start());
  const endedAt = await end.promise;
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(running);
  return count / ((endedAt - before) / 1000);
}

for await (const order of orders<PlainjobOrder>()) {
  const queue = defineQueue({ connection: plainjobConnection(order.file), logger });
  try {
    if (order.do === 'add') say(addsPerSecond(queue, order.durationMs));
    else say(await runsPerSecond(queue, order.program, order.slots, order.count));
  } finally {
    queue.close();
  }
}
