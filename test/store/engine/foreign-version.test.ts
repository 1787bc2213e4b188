/** What a process knows of the commits of others when it answers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { nextTurn } from '../../../src/lib/flow/cooperative.ts';
import { insertRow } from '../../../src/store/engine/rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES } from '../engine-fixture.ts';

const [SQLITE] = ENGINES;

/** Both ends of a connection on the loopback interface. */
async function connection(t: TestContext): Promise<{ readonly client: Socket; readonly server: Socket }> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  assert.ok(typeof address === 'object' && address !== null);
  const client = connect(address.port, '127.0.0.1');
  const [server] = (await once(listener, 'connection')) as [Socket];
  t.after(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  return { client, server };
}

test('A request sent after another process committed is answered with that commit', async (t) => {
  const database = await SQLITE!.create();
  t.after(() => database.remove());
  const store = await database.open();
  const other = new DatabaseSync('file' in database.location ? database.location.file : '');
  t.after(() => other.close());
  const { client, server } = await connection(t);
  for (const begin of [(step: () => void) => systemClock.after(1, step), setImmediate]) {
    let before: string | null = null;
    let again: string | null = null;
    begin(() => {
      before = store.version([]);
      other.exec(`pragma user_version = ${Number(other.prepare('pragma user_version').get()?.['user_version']) + 1}`);
      again = store.version([]);
      client.write('request');
    });
    await once(server, 'data');
    const answered = store.version([]);
    assert.equal(again, before, 'it is asked once for events that came together');
    assert.notEqual(answered, before, `begun in ${begin === setImmediate ? 'setImmediate' : 'a timer'}`);
  }
});

function writeElsewhere(store: Store, name: string): Promise<unknown> {
  return store.write((tx) =>
    insertRow(tx.db, 'config_objects', { kind: 'rule', name, config_set: 'set', digest: 'd', applied_at: tx.now }),
  );
}

test('A process asks again for what it or another one wrote to, and for nothing else', async (t) => {
  const database = await SQLITE!.create();
  t.after(() => database.remove());
  const store = await database.open();
  const other = await database.open();
  const versions = (): readonly (string | null)[] => [store.version(), store.version(['netgroups'])];
  const before = versions();
  await writeElsewhere(store, 'a');
  const [all, netgroups] = versions();
  assert.notEqual(all, before[0]);
  assert.equal(netgroups, before[1]);
  await store.write((tx) => tx.db.deleteFrom('netgroups').execute());
  const after = versions();
  assert.notEqual(after[1], netgroups);
  await writeElsewhere(other, 'b');
  await nextTurn();
  assert.notEqual(versions()[1], after[1]);
});
