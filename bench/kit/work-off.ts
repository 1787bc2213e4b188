/** Jobs that do nothing, run by one daemon or by several that share a store. */
import { type Daemon, expectStatus } from './daemon.ts';
import { HttpConnection, requestBytes } from './http-client.ts';
import { load } from './load.ts';
import { processorSeconds } from './process-facts.ts';
import { monotonicMs, until } from './time.ts';

export const TOOL = '/bin/true';
/** Not counted: the first jobs start the guard and compile the code, at twice the processor time of those after 500. */
export const WARM_UP_JOBS = 500;

/**
 * Queues `count` jobs while nothing may be claimed; answers the time and the processor time that their runs took.
 * Several `daemons` share a store.
 */
export async function workOff(
  daemons: readonly [Daemon, ...Daemon[]],
  slots: number,
  count: number,
): Promise<{ ms: number; usedMs: number }> {
  const [daemon] = daemons;
  await daemon.ask('POST', '/maintenance/cordon');
  const body = JSON.stringify({ inventory: 'localhost', command: [TOOL] });
  const request = { method: 'POST', url: daemon.url('/commands/run'), headers: daemon.headers, body };
  await load({ request, clients: slots, durationMs: 60_000, count }, 202);
  // One kept connection: what asks must not be what is measured.
  const connection = await HttpConnection.open(daemon.url(''));
  const get = async <T>(path: string): Promise<T> => {
    const response = await connection.send(
      requestBytes({ method: 'GET', url: daemon.url(path), headers: daemon.headers }),
    );
    expectStatus(response, 200);
    return (JSON.parse(response.body.toString()) as { data: T }).data;
  };
  const usedSeconds = (): number => daemons.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  try {
    const usedBefore = usedSeconds();
    const before = monotonicMs();
    await daemon.ask('POST', '/maintenance/uncordon');
    await until('all jobs ended', 120_000, 20, async () => {
      if ((await get<unknown[]>('/jobs?state=queued&limit=1')).length > 0) return false;
      return (await get<{ in_flight: number }>('/maintenance/readiness')).in_flight === 0;
    });
    return { ms: monotonicMs() - before, usedMs: (usedSeconds() - usedBefore) * 1000 };
  } finally {
    connection.close();
  }
}
