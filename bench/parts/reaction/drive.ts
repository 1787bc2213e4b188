import type { ReactionOrder, ReactionStarted, SendOrder, Sent } from '../../children/reaction-orders.ts';
import { type Child, openChild } from '../../kit/child.ts';
import { NODE_FLAGS } from '../../kit/daemon.ts';
import { HttpConnection, requestBytes } from '../../kit/http-client.ts';
import { monotonicMs, sleep } from '../../kit/time.ts';

/** A daemon that takes messages and answers the API at the same time: how fast it answers, and which events it lost. */

export const ASK_EVERY_MS = 10;
/** The end of a job is an event too, and comes a little after it. */
const SETTLE_MS = 300;
const PATHS = ['/jobs?limit=50', '/whoami', '/maintenance/readiness'];
export const API = '/api/v1';

export interface Reached extends ReactionStarted {
  readonly pid: number;
  ask<T>(order: ReactionOrder): Promise<T>;
}

/** Starts a daemon, lends it, and ends it. */
export async function withDaemon(
  dataDir: string,
  logFile: string,
  use: (daemon: Reached) => Promise<void>,
): Promise<void> {
  const child = openChild<unknown>('children/reaction-daemon.ts', { logFile, flags: NODE_FLAGS });
  const ask = async <T>(order: ReactionOrder): Promise<T> => (await child.ask(order)) as T;
  try {
    const started = await ask<ReactionStarted>({ do: 'start', dataDir });
    await use({ ...started, pid: child.pid, ask });
    await ask({ do: 'stop' });
  } finally {
    await child.end();
  }
}

/** Asks the API in turn, a call at a time, while `work` is under way; answers how long each call took. */
export async function whileAsking<T>(
  { webUrl, headers }: ReactionStarted,
  work: Promise<T>,
): Promise<{ result: T; latencies: number[] }> {
  const state = { ended: false };
  const done = work.finally(() => (state.ended = true));
  done.catch(() => undefined); // The caller that awaits it below gets the error.
  const requests = PATHS.map((path) => requestBytes({ method: 'GET', url: `${webUrl}${API}${path}`, headers }));
  const connection = await HttpConnection.open(webUrl);
  const latencies: number[] = [];
  try {
    // A first call verifies the token, which takes long once.
    await connection.send(requests[1] ?? Buffer.alloc(0));
    for (let i = 0; !state.ended; i += 1) {
      const before = monotonicMs();
      const { status, body } = await connection.send(requests[i % requests.length] ?? Buffer.alloc(0));
      if (status !== 200) throw new Error(`the API answered ${status}: ${body.toString()}`);
      latencies.push(monotonicMs() - before);
      await sleep(ASK_EVERY_MS);
    }
    return { result: await done, latencies };
  } finally {
    connection.close();
  }
}

interface Summary {
  readonly received: number;
  readonly error: number;
}

async function summary({ webUrl, headers }: ReactionStarted): Promise<Summary> {
  const url = `${webUrl}${API}/events/summary`;
  const connection = await HttpConnection.open(url);
  try {
    const { body } = await connection.send(requestBytes({ method: 'GET', url, headers }));
    return (JSON.parse(body.toString()) as { data: Summary }).data;
  } finally {
    connection.close();
  }
}

interface Drive extends Sent {
  /** Milliseconds that each call of the API took; none where it was not asked. */
  readonly latencies: readonly number[];
  /** Events that were answered with 202 and are not counted by the ledger. */
  readonly lost: number;
}

/** Sends, and asks the API at the same time if `isAsked`: that takes a part of what the daemon can do. */
export async function drive(
  daemon: Reached,
  senders: Child<Sent>,
  order: Omit<SendOrder, 'do' | 'url' | 'warmUpMs'>,
  isAsked: boolean,
): Promise<Drive> {
  await sleep(SETTLE_MS);
  const before = await summary(daemon);
  const sending = senders.ask({ do: 'send', url: daemon.hookUrl, warmUpMs: 500, ...order });
  const { result, latencies } = isAsked ? await whileAsking(daemon, sending) : { result: await sending, latencies: [] };
  const after = await summary(daemon);
  if (after.error !== before.error) throw new Error(`${after.error - before.error} events have the outcome error`);
  const others = Object.keys(result.statuses).filter((status) => !['202', '503'].includes(status));
  if (others.length > 0) throw new Error(`the hook answered ${JSON.stringify(result.statuses)}`);
  const lost = result.accepted - (after.received - before.received);
  // More than were accepted would hide some that were lost.
  if (lost < 0 && result.broken === 0) throw new Error(`the ledger counts ${-lost} events more than were accepted`);
  return { ...result, latencies, lost };
}
