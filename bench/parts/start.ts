import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alertMessage, FIRING_ALERT } from '../children/reaction-orders.ts';
import { bullmqStarts, CLOCK, installed, printedMs, webhookStarts } from '../floors/peers.ts';
import type { Bench } from '../kit/bench.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../kit/daemon.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { removeDir } from '../kit/scratch.ts';
import { percentile } from '../kit/statistics.ts';
import { sleep, until, wallMs } from '../kit/time.ts';

const ENDS_WITHIN_MS = 30_000;
/** The tool prints its own time, so that asking seldom takes nothing from the figure and less from the daemon. */
const ASK_EVERY_MS = 25;
/** After the end of a job, until the next request: the daemon is idle again. */
const PAUSE_MS = 30;

/** From a request, and from an alert, to the first instruction of the tool, beside programs that do the same. */
export async function start({ report, quick }: Bench): Promise<void> {
  const count = quick ? 30 : 150;
  const daemon = await startDaemon();
  try {
    const asked = await fromRequests(daemon, count);
    const alerted = await fromAlerts(daemon, count);
    const peers = await peerSamples(count);
    if (peers.bullmq === null) report.failed('BullMQ', new Error('redis-server is not installed'));
    if (peers.webhook === null) report.failed('webhook', new Error('webhook is not installed'));
    for (const share of [0.5, 0.99]) {
      const name = share === 0.5 ? 'p50' : 'p99';
      const add = (what: string, samples: readonly number[], peer: keyof typeof peers, ratioAtMost: number): void => {
        const floor = peers[peer];
        const beside = { bullmq: 'BullMQ, job added to handler', webhook: 'webhook, request to tool' }[peer];
        report.add({
          name: `${what}: ${name}`,
          value: percentile(samples, share),
          unit: 'ms',
          ...(floor === null ? {} : { floor: { name: `${beside}: ${name}`, value: percentile(floor, share) } }),
          ...(floor === null ? {} : { goal: { ratioAtMost } }),
        });
      };
      add('request to the first instruction of the tool', asked, 'bullmq', 1);
      add('request to the first instruction of the tool', asked, 'webhook', 3);
      add('alert to the first instruction of the tool', alerted, 'webhook', 5);
    }
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}

async function peerSamples(count: number): Promise<Record<'bullmq' | 'webhook', number[] | null>> {
  const redis = installed('redis-server');
  const webhook = installed('webhook');
  return {
    bullmq: redis === null ? null : await bullmqStarts(redis, count),
    webhook: webhook === null ? null : await webhookStarts(webhook, count),
  };
}

async function fromRequests(daemon: Daemon, count: number): Promise<number[]> {
  const body = JSON.stringify({ inventory: 'localhost', command: CLOCK });
  return samples(daemon, count, { url: daemon.url('/commands/run'), headers: daemon.headers, body: () => body });
}

async function fromAlerts(daemon: Daemon, count: number): Promise<number[]> {
  const file = join(daemon.dataDir, 'rule.yaml');
  const when = `event.status == "firing" && event.labels.alertname == "${FIRING_ALERT}"`;
  const action = `action:\n  command: ${JSON.stringify(CLOCK)}\n  inventory: localhost\n`;
  writeFileSync(file, `name: clock\nwhen: '${when}'\n${action}`);
  await daemon.svc(['rule', 'add', '--file', file]);
  const { url } = await daemon.svc<{ url: string }>(['webhook', 'add', 'bench', '--source', 'alertmanager']);
  return samples(daemon, count, { url, body: (i) => alertMessage(`start ${i}`, 1, FIRING_ALERT) });
}

interface Sent {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  body(i: number): string;
}

/** Milliseconds from sending each request to the time that its job printed; the first is left out. */
async function samples(daemon: Daemon, count: number, sent: Sent): Promise<number[]> {
  const connection = await HttpConnection.open(sent.url);
  const times: number[] = [];
  let last = '';
  try {
    for (let i = 0; i <= count; i += 1) {
      const { url, headers = {} } = sent;
      const bytes = requestBytes({ method: 'POST', url, headers, body: sent.body(i) });
      const before = wallMs();
      expectStatus(await connection.send(bytes), 202);
      await sleep(ASK_EVERY_MS);
      last = await newestEnded(daemon, last);
      const [result] = (await getData<{ hosts: { stdout: string }[] }>(daemon, `/jobs/${last}/result`)).hosts;
      if (i > 0) times.push(printedMs(result?.stdout ?? '') - before);
      await sleep(PAUSE_MS);
    }
    return times;
  } finally {
    connection.close();
  }
}

/** The id of the newest job once it is another one than `last` and has succeeded. */
async function newestEnded(daemon: Daemon, last: string): Promise<string> {
  let id = last;
  await until('the job ended', ENDS_WITHIN_MS, ASK_EVERY_MS, async () => {
    const [newest] = await getData<{ id: string; state: string }[]>(daemon, '/jobs?limit=1');
    if (newest === undefined || newest.id === last) return false;
    if (newest.state === 'failed') throw new Error(`the job ${newest.id} failed`);
    id = newest.id;
    return newest.state === 'succeeded';
  });
  return id;
}
