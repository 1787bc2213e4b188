/** Lists without a bound: sent while they are read, whatever their length and however slow their reader. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertJob } from '../../../src/store/jobs/jobs.ts';
import type { Store } from '../../../src/store/store.ts';
import { newId } from '../../../src/lib/id.ts';
import { heldMib } from '../../support/measure/held-memory.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { open, request, untilHas } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';

const ROWS = 20_000;
/** A look at what is held takes some of these milliseconds. */
const LOOK_EVERY_MS = 100;

async function fill(store: Store): Promise<void> {
  for (let done = 0; done < ROWS; done += 2_000) {
    await store.write(async (tx) => {
      for (let i = 0; i < 2_000; i += 1) {
        await insertJob(tx, {
          id: newId('job', tx.now),
          kind: 'command',
          state: 'queued',
          runbook: 'command:localhost',
          source: null,
          trigger: 'api',
          workspace: null,
          concurrencyKey: null,
          privileged: false,
          createdAt: tx.now,
          requestedBy: 'somebody',
          owners: ['somebody'],
          redriveOf: null,
          spec: '{}',
          timeoutMs: 1_000,
        });
      }
    });
  }
}

test(`T53: All of ${ROWS} rows come, newest first and once, while others are answered`, async (t) => {
  const program = await startProgram(t);
  await fill(program.store);
  await send(program, 'readonly', { method: 'GET', path: '/api/v1/whoami' });
  const response = await fetch(`${program.url}/api/v1/jobs?limit=0`, {
    headers: { authorization: `Bearer ${program.tokens.readonly}` },
  });
  assert.ok(response.body !== null);
  const order: string[] = [];
  const other = send(program, 'readonly', { method: 'GET', path: '/api/v1/jobs?limit=1' });
  const [answer, text] = await Promise.all([
    other.finally(() => order.push('other')),
    response.text().finally(() => order.push('list')),
  ]);
  assert.equal(answer.status, 200);
  assert.deepEqual(order, ['other', 'list']);
  const { data } = JSON.parse(text) as { data: { id: string }[] };
  const ids = data.map(({ id }) => id);
  assert.equal(new Set(ids).size, ROWS);
  assert.deepEqual(ids, ids.toSorted().toReversed());
});

test('T53: A reader that stops reading pauses the list, and is cut off after its time', async (t) => {
  const program = await startProgram(t, { limits: { drainMs: 300 } });
  await fill(program.store);
  const socket = await open(program.port);
  const before = heldMib();
  socket.write(request('GET', '/api/v1/jobs?limit=0', { Authorization: `Bearer ${program.tokens.readonly}` }));
  await untilHas(socket, '"kind":"job.list"');
  socket.pause();
  const closed = Promise.withResolvers<void>();
  socket.on('close', () => closed.resolve());
  let most = before;
  await serverSideGone(program, () => (most = Math.max(most, heldMib())));
  const message = `${(most - before).toFixed(0)} MiB were held for a client that reads nothing`;
  t.diagnostic(message);
  assert.ok(most - before < 8, message);
  let rest = '';
  socket.on('data', (chunk: Buffer) => (rest += chunk.toString('latin1')));
  socket.resume();
  await closed.promise;
  assert.ok(!rest.endsWith('0\r\n\r\n'), 'half a list looks like a whole one');
});

/** Waits until the listener has no connection left, and calls `look` each time before it checks again. */
async function serverSideGone(program: Program, look: () => void = () => undefined): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (program.face.load().connections > 0) {
    assert.ok(performance.now() < deadline, 'the connection is still open');
    look();
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

test('T53: A list that fails on its way is cut, so that half of it does not look like all', async (t) => {
  const pages = { left: 3 };
  const program = await startProgram(t, { wrapStore: (store) => failingAfter(store, pages) });
  await fill(program.store);
  const ask = fetch(`${program.url}/api/v1/jobs?limit=0`, {
    headers: { authorization: `Bearer ${program.tokens.readonly}` },
  });
  await assert.rejects(
    ask.then((response) => response.text()),
    /terminated/,
  );
  assert.equal(program.logged.length, 1);
});

/** A store whose database answers a few queries and then no more. */
function failingAfter(store: Store, pages: { left: number }): Store {
  const db = new Proxy(store.db, {
    get(target, name, receiver) {
      if (name === 'selectFrom' && (pages.left -= 1) < 0) throw new Error('the database went away');
      const value = Reflect.get(target, name, receiver) as unknown;
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
  return new Proxy(store, {
    get: (target, name, receiver) => (name === 'db' ? db : (Reflect.get(target, name, receiver) as unknown)),
  });
}
