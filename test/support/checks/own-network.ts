/** For stories that run in separate namespaces: addresses that a daemon may probe, and what it found there. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { EventRow } from '../../../src/store/schema/schema.ts';
import { type Fixture, openFixture } from '../fixtures/installation.ts';
import { putCheck } from './sweep-fixture.ts';

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

/** A server that closes each connection, after it was `seen`. */
export async function listening(port: number, seen: (socket: Socket) => void = () => undefined): Promise<Server> {
  const server = createServer((socket) => {
    seen(socket);
    socket.destroy();
  }).listen(port, '0.0.0.0', 4_096);
  await once(server, 'listening');
  return server;
}

export async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

/** Of a check, oldest first. */
export function eventsOf({ store }: Fixture, check: string): Promise<EventRow[]> {
  return store.db.selectFrom('events').selectAll().where('name', '=', check).orderBy('id').execute();
}

/** Of a check, the targets with this status in the store. */
export async function countUp({ store }: Fixture, check: string, status: 'up' | 'down'): Promise<number> {
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

/** Adds a tcp check of `count` targets, t0 and on. */
export async function addCheck(
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

/** `story` gets an installation in this network, where all of 10.77.0.0/16 is this machine. */
export async function inOwnNetwork<T>(story: (fixture: Fixture) => Promise<T>): Promise<T> {
  ip('link', 'set', 'lo', 'up');
  ip('route', 'add', 'local', '10.77.0.0/16', 'dev', 'lo');
  const endings: (() => Promise<void>)[] = [];
  const fixture = await openFixture({ after: (step) => void endings.push(step) });
  try {
    return await story(fixture);
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}
