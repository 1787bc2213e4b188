/** What the daemon answers, and what memory it has while something else loads the machine. */
import { expectStatus, type Daemon } from './daemon.ts';
import { HttpConnection, requestBytes } from './http-client.ts';
import { residentMiB } from './process-facts.ts';
import { monotonicMs, sleep } from './time.ts';

const SAMPLE_EVERY_MS = 50;
const PATHS = ['/jobs?limit=50', '/whoami', '/maintenance/readiness'];

export interface Seen {
  /** MiB. */
  readonly memory: number[];
  /** Milliseconds, of one request at a time. */
  readonly latencies: number[];
}

/** Asks the API and reads memory, in turn, until `over` says so. */
export async function askUntil(daemon: Daemon, over: () => boolean, everyMs = SAMPLE_EVERY_MS): Promise<Seen> {
  const seen: Seen = { memory: [], latencies: [] };
  const connection = await HttpConnection.open(daemon.url('/'));
  const requests = PATHS.map((path) => requestBytes({ method: 'GET', url: daemon.url(path), headers: daemon.headers }));
  try {
    for (let i = 0; !over(); i += 1) {
      const before = monotonicMs();
      const response = await connection.send(requests[i % requests.length] ?? Buffer.alloc(0));
      seen.latencies.push(monotonicMs() - before);
      expectStatus(response, 200);
      seen.memory.push(residentMiB(daemon.pid));
      await sleep(everyMs);
    }
  } finally {
    connection.close();
  }
  return seen;
}

export function askFor(daemon: Daemon, durationMs: number): Promise<Seen> {
  const begun = monotonicMs();
  return askUntil(daemon, () => monotonicMs() - begun >= durationMs);
}
