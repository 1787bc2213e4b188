/**
 * Run in separate namespaces of network and mounts: a daemon that probes addresses of this network, which open and
 * close. Writes what it did as JSON.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { EventRow } from '../../../src/store/schema/schema.ts';
import { until } from '../api-client.ts';
import type { RunningDaemon } from '../daemon.ts';
import { type Fixture, openFixture } from '../fixtures/installation.ts';
import { addRule } from '../fixtures/reaction.ts';
import { putCheck } from './sweep-fixture.ts';

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

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

async function listening(port: number, host = '0.0.0.0'): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, host, 4_096);
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

function eventsOf({ store }: Fixture, check: string): Promise<EventRow[]> {
  return store.db.selectFrom('events').selectAll().where('name', '=', check).orderBy('id').execute();
}

async function countUp({ store }: Fixture, check: string, status: 'up' | 'down'): Promise<number> {
  const rows = await store.db
    .selectFrom('check_targets')
    .select('name')
    .where('check_name', '=', check)
    .where('status', '=', status)
    .execute();
  return rows.length;
}

/** Changes the address of a target: `putCheck` gives it one of a documentation network. */
async function setSpecs({ store }: Fixture, check: string, specOf: (position: number) => string): Promise<void> {
  await store.write(async ({ db }) => {
    const rows = await db.selectFrom('check_targets').selectAll().where('check_name', '=', check).execute();
    for (const { name, position } of rows)
      await db
        .updateTable('check_targets')
        .set({ spec: specOf(position) })
        .where('check_name', '=', check)
        .where('name', '=', name)
        .execute();
  });
}

async function addCheck(
  fixture: Fixture,
  name: string,
  count: number,
  intervalMs: number,
  specOf: (position: number) => string,
): Promise<void> {
  const targets = Array.from({ length: count }, (_, index) => `t${index}`);
  await putCheck(fixture.store, name, targets, { interval_ms: intervalMs, enabled: 0 });
  await setSpecs(fixture, name, specOf);
  await putCheck(fixture.store, name, targets, { interval_ms: intervalMs });
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
  ip('link', 'set', 'lo', 'up');
  ip('route', 'add', 'local', '10.77.0.0/16', 'dev', 'lo');
  const endings: (() => Promise<void>)[] = [];
  const fixture = await openFixture({ after: (step) => void endings.push(step) });
  try {
    const daemon = await fixture.start();
    const one = await flipOne(fixture);
    const { many, metrics, last } = await flipMany(fixture, daemon);
    await last.stop();
    return { ...one, many, metrics };
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}

process.stdout.write(JSON.stringify(await main()));
