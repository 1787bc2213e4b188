/** Requests at a fixed rate over connections that are kept, as programs send them, and what became of each. */
import { Agent, request } from 'node:http';

export interface LoadResult {
  readonly sent: number;
  readonly failures: readonly string[];
  /** The longest time, in milliseconds, in which no answer arrived. */
  readonly longestPauseMs: number;
  /** 99 of 100 answers came within this time, in milliseconds. */
  readonly p99Ms: number;
}

/** The request that is sent; without it a GET, which is answered with 200. */
interface Sent {
  readonly method: string;
  readonly body: string;
  readonly status: number;
}

interface SteadyLoad {
  stop(): Promise<LoadResult>;
}

const CONNECTIONS = 32;
const TICK_MS = 20;
/** A daemon that starts again on a busy machine takes seconds; its clients wait in the queue of the kernel. */
const ANSWER_LIMIT_MS = 60_000;

const GET: Sent = { method: 'GET', body: '', status: 200 };

/** Sends `perSecond` requests for `url`. */
export function startLoad(
  url: string,
  token: string,
  perSecond: number,
  { method, body, status }: Sent = GET,
): SteadyLoad {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  const durations: number[] = [];
  const open = new Set<Promise<void>>();
  const began = performance.now();
  let [sent, lastAnswer, longestPauseMs] = [0, began, 0];
  const answered = (): void => {
    longestPauseMs = Math.max(longestPauseMs, performance.now() - lastAnswer);
    lastAnswer = performance.now();
  };
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      const sentAt = performance.now();
      const fail = (why: string): void => {
        failures.push(why);
        resolve();
      };
      const asked = request(url, { agent, method, headers }, (response) => {
        response.resume();
        response.once('error', (error) => fail(error.message));
        response.once('end', () => {
          answered();
          durations.push(performance.now() - sentAt);
          if (response.statusCode === status) resolve();
          else fail(`status ${response.statusCode}`);
        });
      });
      asked.setTimeout(ANSWER_LIMIT_MS, () => asked.destroy(new Error('no answer')));
      asked.once('error', (error: Error & { code?: string }) => fail(error.code ?? error.message));
      asked.end(body);
    });
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    for (; sent < due; sent += 1) {
      const one = send();
      open.add(one);
      void one.then(() => open.delete(one));
    }
  }, TICK_MS);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
      const sorted = durations.toSorted((a, b) => a - b);
      return { sent, failures, longestPauseMs, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
    },
  };
}
