/** In a separate network: sweeps of the daemon, and of Prometheus with blackbox_exporter. Says one line of figures. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { type Child, openChild, orders, say } from '../kit/child.ts';
import { type Daemon, startDaemon } from '../kit/daemon.ts';
import { processorSeconds, residentMiB } from '../kit/process-facts.ts';
import { removeDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep, until } from '../kit/time.ts';
import { withProbers } from '../floors/probers.ts';
import { type Answered, HTTP_PORT, TCP_PORT } from './check-targets.ts';

const TCP_TARGETS = 10_000;
const HTTP_TARGETS = 1_000;
const FLIPS = 100;
const ASK_EVERY_MS = 20;
const SECOND_MS = 1_000;
const IDLE_MS = 5_000;

/** What a sweep costs. */
interface Cost {
  /** Of one core. */
  readonly percent: number;
  readonly gainedMiB: number;
  /** Answers of targets in a second. */
  readonly perSecond: number;
}

export interface CheckFigures {
  readonly tcp: Cost & { readonly apiP99Ms: number; readonly idleP99Ms: number; readonly doctor: string };
  readonly http: Cost;
  /** Null where Prometheus or blackbox_exporter is not installed. */
  readonly prometheus: Cost | null;
  /** From the close of a port to its event, beyond three intervals. */
  readonly flipP99Ms: number;
}

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

const addressOf = (index: number): string => `10.77.${Math.floor(index / 200)}.${(index % 200) + 1}`;

async function create(daemon: Daemon, name: string, kind: string, interval: string, targets: string[]): Promise<void> {
  const { status, body } = await daemon.ask('POST', '/checks', { name, kind, interval, targets });
  if (status >= 300) throw new Error(`POST /checks: ${status} ${String(body)}`);
}

/** What `pids` use in `ms`, of which `answers` of the targets is a rate. */
async function costOf(
  pids: readonly number[],
  before: number,
  ms: number,
  count: () => Promise<number>,
): Promise<Cost> {
  const used = (): number => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0);
  const [usedBefore, countBefore, startedAt] = [used(), await count(), monotonicMs()];
  await sleep(ms);
  const seconds = (monotonicMs() - startedAt) / SECOND_MS;
  return {
    percent: (100 * (used() - usedBefore)) / seconds,
    gainedMiB: pids.reduce((sum, pid) => sum + residentMiB(pid), 0) - before,
    perSecond: ((await count()) - countBefore) / seconds,
  };
}

/** Asks the API at an even pace until `signal` aborts; the durations of the answers. */
async function askUntil(daemon: Daemon, signal: AbortSignal): Promise<number[]> {
  const asked: number[] = [];
  while (!signal.aborted) {
    const at = monotonicMs();
    await daemon.ask('GET', '/jobs?limit=50');
    asked.push(monotonicMs() - at);
    await sleep(ASK_EVERY_MS);
  }
  return asked;
}

async function sweepTcp(targets: Child<Answered>, quick: boolean): Promise<CheckFigures['tcp']> {
  const daemon = await startDaemon();
  try {
    await daemon.ask('GET', '/jobs?limit=50');
    await sleep(2 * SECOND_MS);
    const idleP99Ms = percentile(await askUntil(daemon, AbortSignal.timeout(IDLE_MS)), 0.99);
    const before = residentMiB(daemon.pid);
    const all = Array.from({ length: TCP_TARGETS }, (_, index) => `t${index}=${addressOf(index)}:${TCP_PORT}`);
    await create(daemon, 'ports', 'tcp', '30s', all);
    // The first probes of new targets are made within seconds.
    await sleep(quick ? 12 * SECOND_MS : 35 * SECOND_MS);
    const asking = new AbortController();
    const asked = askUntil(daemon, asking.signal);
    const cost = await costOf(
      [daemon.pid],
      before,
      quick ? 15 * SECOND_MS : 60 * SECOND_MS,
      async () => (await targets.ask({})).connections,
    );
    asking.abort();
    const health = await daemon.svc<
      { name: string; detail: string }[] | { entries: { name: string; detail: string }[] }
    >(['doctor']);
    const entries = Array.isArray(health) ? health : health.entries;
    const doctor = entries.find(({ name }) => name === 'checks')?.detail ?? '';
    return { ...cost, apiP99Ms: percentile(await asked, 0.99), idleP99Ms, doctor };
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}

const urls = (): string[] =>
  Array.from({ length: HTTP_TARGETS }, (_, index) => `http://${addressOf(index)}:${HTTP_PORT}/`);

async function sweepHttp(targets: Child<Answered>, quick: boolean): Promise<Cost> {
  const daemon = await startDaemon();
  try {
    await daemon.ask('GET', '/jobs?limit=50');
    await sleep(2 * SECOND_MS);
    const before = residentMiB(daemon.pid);
    await create(
      daemon,
      'web',
      'http',
      '1s',
      urls().map((url, index) => `t${index}=${url}`),
    );
    await sleep(8 * SECOND_MS);
    const ms = quick ? 10 * SECOND_MS : 30 * SECOND_MS;
    return await costOf([daemon.pid], before, ms, async () => (await targets.ask({})).requests);
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}

async function prometheus(targets: Child<Answered>, quick: boolean): Promise<Cost | null> {
  return withProbers(urls(), async (pids) => {
    await sleep(8 * SECOND_MS);
    const ms = quick ? 10 * SECOND_MS : 30 * SECOND_MS;
    return costOf(pids, 0, ms, async () => (await targets.ask({})).requests);
  });
}

async function listening(host: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(TCP_PORT + 2, host);
  await once(server, 'listening');
  return server;
}

/** Ports that close at different moments, each to the time of its event less three intervals of a second. */
async function flip(): Promise<number> {
  const daemon = await startDaemon();
  try {
    const hosts = Array.from({ length: FLIPS }, (_, index) => addressOf(index));
    const servers = await Promise.all(hosts.map(listening));
    await create(
      daemon,
      'flips',
      'tcp',
      '1s',
      hosts.map((host, index) => `t${index}=${host}:${TCP_PORT + 2}`),
    );
    await sleep(8 * SECOND_MS);
    const closedAt = new Map<string, number>();
    for (const [index, server] of servers.entries()) {
      server.close();
      closedAt.set(`t${index}`, Date.now());
      await sleep(37);
    }
    let events: { labels: { target: string }; received_at: string }[] = [];
    await until('each port that closed has its event', 30 * SECOND_MS, 100, async () => {
      const { body } = await daemon.ask('GET', '/events?source=check&limit=1000');
      events = (JSON.parse(String(body)) as { data: typeof events }).data;
      return events.length >= FLIPS;
    });
    const beyond = events.map(
      ({ labels, received_at: at }) => Date.parse(at) - (closedAt.get(labels.target) ?? 0) - 3 * SECOND_MS,
    );
    return percentile(beyond, 0.99);
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}

async function main(): Promise<void> {
  ip('link', 'set', 'lo', 'up');
  ip('route', 'add', 'local', '10.77.0.0/16', 'dev', 'lo');
  const targets = openChild<Answered>('children/check-targets.ts');
  await targets.next();
  for await (const { quick } of orders<{ quick: boolean }>()) {
    const flipP99Ms = await flip();
    const http = await sweepHttp(targets, quick);
    const peers = await prometheus(targets, quick);
    const tcp = await sweepTcp(targets, quick);
    say({ tcp, http, prometheus: peers, flipP99Ms } satisfies CheckFigures);
    break;
  }
  await targets.end();
  process.exit();
}

await main();
