/** A run whose files are fetched from a server that never answers: cancelled, and stopped with its daemon. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { insertSource } from '../../../src/store/sources/sources.ts';
import { until } from '../../support/api-client.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

/** By itself git gives up a server that sends nothing after 30 s. */
const BEFORE_GIT_GIVES_UP_MS = 20_000;
const COMMIT = 'a'.repeat(40);

let fixture: Fixture;
let server: Server;
const ending: (() => Promise<void>)[] = [];
before(async () => {
  fixture = await openFixture({ after: (step) => ending.push(step) });
  server = createServer().listen(0, '127.0.0.1');
  ending.push(async () => void server.close());
  await once(server, 'listening');
  const location = `https://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  const row = {
    name: 'stalled',
    kind: 'git',
    location,
    ref: null,
    commit_id: COMMIT,
    synced_at: 1,
    created_at: 1,
  } as const;
  await fixture.store.write((tx) => insertSource(tx, row));
  await fixture.call('workspace.add', { name: 'w', source: 'stalled' });
});
after(async () => {
  for (const step of ending.toReversed()) await step();
});

/** Queues a plan, and waits until git of the daemon has connected. */
async function fetching(): Promise<{ job: string; closed: Promise<unknown> }> {
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const { job_id: job } = await fixture.call<{ job_id: string }>('workspace.plan', { name: 'w' });
  const [socket] = await connected;
  socket.resume().on('error', () => undefined);
  return { job, closed: once(socket, 'close') };
}

function leftovers(): string[] {
  return readdirSync(join(fixture.dir, 'data', 'sources')).filter((name) => name.startsWith('.'));
}

test(
  'T69: a job is cancelled while its files are fetched from a server that never answers',
  { skip: needs('git') },
  async () => {
    const daemon = await fixture.start();
    const { job, closed } = await fetching();
    await fixture.call('job.cancel', { id: job });
    assert.equal((await fixture.waitFor(job, ['cancelled', 'failed', 'succeeded', 'interrupted'])).state, 'cancelled');
    await closed;
    assert.deepEqual(leftovers(), []);
    await daemon.kill();
  },
);

test('T69: a daemon that is stopped ends a fetch for a run', { skip: needs('git') }, async () => {
  const daemon = await fixture.start();
  const { job, closed } = await fetching();
  await daemon.stop();
  await closed;
  assert.equal((await fixture.row(job)).state, 'interrupted');
  assert.deepEqual(leftovers(), []);
});

test(
  'T70: git of a daemon that is killed ends too, because nothing else bounds its time and its disk',
  { skip: needs('git') },
  async () => {
    const daemon = await fixture.start();
    const { closed } = await fetching();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await daemon.kill();
    await until('git has ended', () => isClosed, BEFORE_GIT_GIVES_UP_MS);
  },
);
