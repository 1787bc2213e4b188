import { request } from 'node:https';
import { join } from 'node:path';
import { createAuthority } from '../../test/support/notify/push-authority.ts';
import { closedPort, publicAddress, serveTcp, serveTls } from '../../test/support/notify/push-network.ts';
import type { Ended, NotificationOrder } from '../children/notification-orders.ts';
import type { Bench } from '../kit/bench.ts';
import { NODE_FLAGS } from '../kit/daemon.ts';
import { openChild } from '../kit/child.ts';
import { passableTempDir, removeDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep, until } from '../kit/time.ts';

const ENDPOINTS = 100;
/** Between two jobs: long enough that what one left is over, and never in step with anything. */
const PAUSE_MS = 100;
const PAUSE_SPREAD_MS = 100;
const PAGE_LIMIT_MS = 30_000;
const LIVE = 'live.push.example.com';

/** What the live endpoint was sent: the text, and when all of it had arrived. */
interface Arrival {
  readonly text: string;
  readonly atMs: number;
}

/** Steps that end what was opened, the last one first. */
class Endings {
  readonly #steps: (() => Promise<void>)[] = [];

  after(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.toReversed()) await step();
  }
}

/** From the end of an armed job to its page at the one endpoint of 100 that lives. */
export async function pages({ report, quick }: Bench): Promise<void> {
  const dir = passableTempDir('pages');
  const endings = new Endings();
  try {
    const arrivals: Arrival[] = [];
    const { ca, livePort, endpoints, ports } = await openEndpoints(endings, arrivals);
    const child = openChild<unknown>('children/notification-daemon.ts', {
      logFile: join(dir, 'daemon.log'),
      flags: NODE_FLAGS,
    });
    endings.after(() => child.end());
    const ask = async <T>(order: NotificationOrder): Promise<T> => (await child.ask(order)) as T;
    await ask({ do: 'start', dataDir: join(dir, 'data'), ca, ports, endpoints });
    const samples: number[] = [];
    for (let i = 0; i < (quick ? 30 : 200); i += 1) {
      const { jobId, atMs } = await ask<Ended>({ do: 'job' });
      const arrived = (): Arrival | undefined => arrivals.find(({ text }) => text.includes(jobId));
      await until(`the page of ${jobId}`, PAGE_LIMIT_MS, 1, () => arrived() !== undefined);
      // A page may be there before the daemon has said that the job ended, to itself too.
      samples.push(Math.max(0, (arrived()?.atMs ?? Number.NaN) - atMs));
      await sleep(PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
    }
    await ask({ do: 'stop' });
    const floors: number[] = [];
    for (let i = 0; i < 50; i += 1) floors.push(await bare(livePort, ca));
    for (const [what, share, goal] of [
      ['p50', 0.5, {}],
      ['p99', 0.99, { goal: { atMost: 2_000 } }],
    ] as const) {
      const floor = { name: `one POST to it on a new TLS connection: ${what}`, value: percentile(floors, share) };
      report.add({
        name: `end of a job to its page, 99 of ${ENDPOINTS} endpoints dead: ${what}`,
        value: percentile(samples, share),
        unit: 'ms',
        floor,
        ...goal,
      });
    }
  } finally {
    await endings.run();
    removeDir(dir);
  }
}

/** What the network alone takes: the same receiver, asked by a program that does nothing else. */
async function bare(port: number, ca: string): Promise<number> {
  const before = monotonicMs();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, servername: LIVE, ca, agent: false, method: 'POST', path: '/push' },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode));
      },
    );
    sent.once('error', reject);
    sent.end(JSON.stringify({ title: 'floor' }));
  });
  if (status !== 200) throw new Error(`the receiver answered ${status}`);
  return monotonicMs() - before;
}

interface Opened {
  readonly ca: string;
  readonly livePort: number;
  readonly endpoints: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
}

/** 99 that are dead in turn of three ways, and in the middle of them one that takes its pages. */
async function openEndpoints(endings: Endings, arrivals: Arrival[]): Promise<Opened> {
  const authority = createAuthority(endings);
  const certificate = authority.certificate([LIVE, publicAddress(ENDPOINTS / 2)]);
  const livePort = await serveTls(
    endings,
    () => certificate,
    (socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const [head = '', body] = text.split('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
        if (body === undefined || Buffer.byteLength(body) < length) return;
        arrivals.push({ text: body, atMs: monotonicMs() });
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    },
  );
  const dead = [
    await serveTcp(endings, (socket) => void socket.resume()),
    await serveTcp(endings, (socket) => void socket.resetAndDestroy()),
    await closedPort(),
  ];
  const numbers = Array.from({ length: ENDPOINTS }, (_, i) => i);
  const portOf = (i: number): number => (i === ENDPOINTS / 2 ? livePort : (dead[i % dead.length] ?? 1));
  return {
    ca: authority.ca.toString(),
    livePort,
    endpoints: numbers.map((i) => `https://${publicAddress(i)}/push`),
    ports: Object.fromEntries(numbers.map((i) => [publicAddress(i), portOf(i)])),
  };
}
