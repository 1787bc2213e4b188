/**
 * Run in separate namespaces of network and mounts: a daemon that probes addresses of this network, which open and
 * close. Writes what it did as JSON.
 */
import { until } from '../api-client.ts';
import type { RunningDaemon } from '../daemon.ts';
import type { Fixture } from '../fixtures/installation.ts';
import { addRule } from '../fixtures/reaction.ts';
import { addCheck, close, countUp, eventsOf, inOwnNetwork, listening } from './own-network.ts';

const PORT = 7_000;
const ONE_PORT = 7_001;
const MANY = 2_000;
const INTERVAL_MS = 1_000;
const MANY_INTERVAL_MS = 2_000;

/** What the daemon did. */
export interface SweepFindings {
  /** From the moment at which the port closed, in milliseconds. */
  readonly flip: { readonly eventMs: number; readonly job: string; readonly outcome: string | null };
  readonly netgroup: string | null;
  readonly many: {
    readonly up: number;
    /** From the moment at which all ports closed to the last event. */
    readonly allMs: number;
    readonly firing: number;
    readonly distinct: number;
    /** After SIGKILL in the middle of it, and another start. */
    readonly errors: number;
  };
  readonly metrics: readonly string[];
}

const specOfMany = (position: number): string => `10.77.${Math.floor(position / 200)}.${(position % 200) + 1}:${PORT}`;

async function flipOne(fixture: Fixture): Promise<Pick<SweepFindings, 'flip' | 'netgroup'>> {
  await addRule(fixture.services.reaction, 'react', {
    when: 'event.source == "check" && event.name == "one" && event.status == "firing"',
  });
  const server = await listening(ONE_PORT);
  await addCheck(fixture, 'one', 1, INTERVAL_MS, () => `10.77.0.1:${ONE_PORT}`);
  await until('the target is up', async () => ((await countUp(fixture, 'one', 'up')) === 1 ? true : undefined));
  await close(server);
  const closedAt = Date.now();
  const event = await until('the event is there', async () => (await eventsOf(fixture, 'one'))[0], 30_000);
  const job = await fixture.waitFor(event.job_id ?? '', ['succeeded', 'failed']);
  return {
    flip: { eventMs: event.received_at - closedAt, job: job.state, outcome: event.outcome },
    netgroup: event.netgroup,
  };
}

async function flipMany(
  fixture: Fixture,
  daemon: RunningDaemon,
): Promise<{ many: SweepFindings['many']; metrics: readonly string[]; last: RunningDaemon }> {
  const server = await listening(PORT);
  await addCheck(fixture, 'many', MANY, MANY_INTERVAL_MS, specOfMany);
  const allUp = async (): Promise<true | undefined> => {
    const response = await fetch(`${daemon.ready.web_url}/metrics`, {
      headers: { authorization: `Bearer ${fixture.token}` },
    });
    const lines = (await response.text())
      .split('\n')
      .filter((line) => line.startsWith('gatehouse_check_up{check="many"'));
    metrics = lines;
    return lines.length === MANY ? true : undefined;
  };
  let metrics: readonly string[] = [];
  await until('all targets are up', allUp, 60_000);
  await close(server);
  const closedAt = Date.now();
  await until('the first events are there', async () =>
    (await eventsOf(fixture, 'many')).length > 50 ? true : undefined,
  );
  await daemon.kill();
  const last = await fixture.start();
  const events = await until(
    'each target has its event',
    async () => {
      const rows = await eventsOf(fixture, 'many');
      return rows.length >= MANY ? rows : undefined;
    },
    60_000,
  );
  await new Promise((resolve) => setTimeout(resolve, 2 * MANY_INTERVAL_MS));
  const all = await eventsOf(fixture, 'many');
  return {
    metrics: metrics.slice(0, 1),
    last,
    many: {
      up: metrics.filter((line) => line.endsWith(' 1')).length,
      allMs: (events.at(-1)?.received_at ?? 0) - closedAt,
      firing: all.filter(({ status }) => status === 'firing').length,
      distinct: new Set(all.map(({ fingerprint }) => fingerprint)).size,
      errors: all.filter(({ outcome }) => outcome === 'error').length,
    },
  };
}

async function main(): Promise<SweepFindings> {
  return inOwnNetwork(async (fixture) => {
    const daemon = await fixture.start();
    const one = await flipOne(fixture);
    const { many, metrics, last } = await flipMany(fixture, daemon);
    await last.stop();
    return { ...one, many, metrics };
  });
}

process.stdout.write(JSON.stringify(await main()));
