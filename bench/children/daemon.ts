/**
 * A whole daemon inside a process that also measures: from sending a request to the signal that the job runs, without
 * any other process in between. `watch` only tells when jobs start and end, for jobs that another process queues.
 */
import { localCaller } from '../../src/domain/access/caller.ts';
import type { Running } from '../../src/app/run/ready.ts';
import { invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { orders, say } from '../kit/child.ts';
import { startInside, tokenOf } from '../kit/inside/daemon.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { monotonicMs, sleep } from '../kit/time.ts';
import type { DaemonOrder } from './orders.ts';

const RAW = { inventory: 'localhost', command: ['/bin/true'] };
const CALLER = localCaller('bench');
/**
 * After the end of a job, until the next is queued: longer than the clean-up of a job takes, and never in step.
 */
const PAUSE_MS = 70;
const PAUSE_SPREAD_MS = 40;

function operation(id: string) {
  const found = OPERATIONS.find((row) => row.id === id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
}

/** When each job started, and a promise of its end. */
class Watch {
  readonly startedAt = new Map<string, number>();
  readonly #finished = new Map<string, PromiseWithResolvers<void>>();

  constructor({ signals }: Running) {
    signals.on('job:started', ({ jobId }) => void this.startedAt.set(jobId, monotonicMs()));
    signals.on('job:finished', ({ jobId }) => this.#end(jobId).resolve());
  }

  finished(jobId: string): Promise<void> {
    return this.#end(jobId).promise;
  }

  #end(jobId: string): PromiseWithResolvers<void> {
    const end = this.#finished.get(jobId) ?? Promise.withResolvers<void>();
    this.#finished.set(jobId, end);
    return end;
  }
}

async function sample(count: number, watch: Watch, queue: () => Promise<string>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const before = monotonicMs();
    const jobId = await queue();
    await watch.finished(jobId);
    samples.push((watch.startedAt.get(jobId) ?? Number.NaN) - before);
    await sleep(PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
  }
  return samples;
}

async function overHttp(running: Running, watch: Watch, count: number): Promise<number[]> {
  const url = `${running.webUrl}/api/v1/commands/run`;
  const bytes = requestBytes({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${await tokenOf(running)}` },
    body: JSON.stringify(RAW),
  });
  const connection = await HttpConnection.open(url);
  const queue = async (): Promise<string> => {
    const { status, body } = await connection.send(bytes);
    if (status !== 202) throw new Error(`answered ${status}: ${body.toString()}`);
    return (JSON.parse(body.toString()) as { data: { job_id: string } }).data.job_id;
  };
  try {
    await queue(); // Verifies the token, which is slow the first time.
    await sleep(PAUSE_MS);
    return await sample(count, watch, queue);
  } finally {
    connection.close();
  }
}

function byInvoke(running: Running, watch: Watch, count: number): Promise<number[]> {
  return sample(count, watch, async () => {
    const answer = await invoke(running.runtime, operation('command.run'), { caller: CALLER, raw: RAW });
    return answer.shape === 'body' ? (answer.data as { job_id: string }).job_id : '';
  });
}

function tellOfJobs({ signals }: Running): void {
  const at = new Map<string, number>();
  signals.on('job:started', ({ jobId }) => void at.set(jobId, monotonicMs()));
  signals.on('job:finished', ({ jobId }) => say({ jobId, startedAt: at.get(jobId) }));
}

let running: Running | null = null;
for await (const order of orders<DaemonOrder>()) {
  if (order.do === 'start') {
    running = await startInside(order.dataDir);
    say({ ready: true });
  } else if (running !== null) {
    if (order.do === 'http') say(await overHttp(running, new Watch(running), order.count));
    else if (order.do === 'invoke') say(await byInvoke(running, new Watch(running), order.count));
    else if (order.do === 'watch') tellOfJobs(running);
    else if (order.do === 'stop') {
      await running.stop();
      say({ stopped: true });
    }
  }
}
