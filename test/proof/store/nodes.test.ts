/** Names of daemons, and the cordon of one of them, on each engine. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { chooseNodeName } from '../../../src/daemon/core/node-name.ts';
import { claim } from '../../../src/daemon/jobs/job-transitions.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { pathPart } from '../../../src/domain/path-part.ts';
import { holdLock, lockFile } from '../../../src/store/engine/instance-lock.ts';
import { setCordon, setNodeCordon } from '../../../src/store/maintenance/cordon.ts';
import { insertDaemon, markStopped } from '../../../src/store/maintenance/daemons.ts';
import { isServed, renewLease } from '../../../src/store/maintenance/leases.ts';
import { listNodes, listRunning, nodeOf } from '../../../src/store/maintenance/nodes.ts';
import type { Store } from '../../../src/store/store.ts';
import { awaitedNodes, findJob, hasClaimable } from '../../../src/store/jobs/jobs.ts';
import { ENGINES, enqueue, freshStore, leaseClock } from '../../store/engine-fixture.ts';

const [A, B] = ['dmn_0000000000000000000000000a', 'dmn_0000000000000000000000000b'] as const;
const LEASE_MS = 60_000;

for (const engine of ENGINES) {
  describe(`Nodes on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('a default name gets a number while a live daemon has it; a given one is refused', async (t) => {
      const { store } = its;
      const daemons = places(store, t);
      const choose = (wanted: string | null, host = 'Web 1.example') =>
        store.write((tx) => chooseNodeName(tx, { wanted, host, ...daemons }));
      assert.equal(await choose(null), 'web-1.example');
      if (store.dialect.liveness === 'lease') assert.equal(await isServed(store), false);
      await daemons.add(A, 'web-1.example');
      if (store.dialect.liveness === 'lease') assert.equal(await isServed(store), true);
      assert.equal(await choose(null), 'web-1.example-2');
      await daemons.add(B, 'web-1.example-2');
      assert.equal(await choose(null), 'web-1.example-3');
      await assert.rejects(
        choose('web-1.example'),
        (error) => error instanceof Failure && error.code === 'conflict' && error.message.startsWith('node-name: '),
      );
      assert.equal(await choose('web2'), 'web2');
      assert.equal(await choose(null, '___'), 'node');
      await daemons.kill(A);
      assert.equal(await choose(null), 'web-1.example', 'the name of a daemon that died is free at once');
      await store.write((tx) => markStopped(tx, B));
      assert.equal(await choose('web-1.example-2'), 'web-1.example-2');
    });

    test('a cordoned node claims nothing, and the others go on; the cordon of the service stops all', async (t) => {
      const { store } = its;
      const daemons = places(store, t);
      await daemons.add(A, 'one');
      await daemons.add(B, 'two');
      for (let n = 0; n < 3; n += 1) await enqueue(store);
      const claimAs = (id: string, node: string) => store.write((tx) => claim(tx, { id, node }, 1));
      await store.write((tx) => setNodeCordon(tx, 'one', 'ana'));
      await store.write((tx) => setNodeCordon(tx, 'one', 'bob'));
      assert.deepEqual(await claimAs(A, 'one'), []);
      const [claimed] = await claimAs(B, 'two');
      assert.ok(claimed !== undefined);
      assert.equal(await nodeOf(store.db, claimed.row), 'two');
      assert.deepEqual(
        (await listNodes(store.db, 0)).map(({ node, isCordoned }) => [node, isCordoned]),
        [
          ['one', true],
          ['two', false],
        ],
      );
      assert.deepEqual(
        (await listRunning(store.db, 'two')).map(({ id, node }) => [id, node]),
        [[claimed.row.id, 'two']],
      );
      assert.deepEqual(await listRunning(store.db, 'one'), []);
      await store.write((tx) => setCordon(tx, 'ana'));
      assert.deepEqual(await claimAs(B, 'two'), []);
      await store.write((tx) => setCordon(tx, null));
      assert.deepEqual(await claimAs(A, 'one'), [], 'the end of one cordon is not that of the other');
      await store.write((tx) => setNodeCordon(tx, 'one', null));
      assert.equal((await claimAs(A, 'one')).length, 1);
    });

    test('a renewal of a lease is recorded with its time, which the list of nodes shows as it is stored', async (t) => {
      const { store } = its;
      await places(store, t).add(A, 'one');
      const [before] = await listNodes(store.db, 0);
      assert.equal(before?.renewed_at, null, 'as a daemon of an earlier build left it');
      if (store.dialect.liveness !== 'lease') return;
      const from = await leaseClock(store);
      assert.equal(await store.write((tx) => renewLease(tx, A, LEASE_MS)), true);
      const [after] = await listNodes(store.db, 0);
      assert.ok((after?.renewed_at ?? 0) >= from);
      assert.equal(after?.lease_until, (after?.renewed_at ?? 0) + LEASE_MS);
    });

    test('a job for a node is claimed by that one alone, however many wait for another, in their order', async (t) => {
      const { store } = its;
      const daemons = places(store, t);
      await daemons.add(A, 'one');
      await daemons.add(B, 'two');
      const away = await Promise.all(Array.from({ length: 20 }, () => enqueue(store, { node: 'three' })));
      const first = await enqueue(store, { node: 'one' });
      const second = await enqueue(store);
      const third = await enqueue(store, { node: 'one' });
      assert.equal(await hasClaimable(store.db, B), true);
      const claimAs = async (id: string, node: string, limit: number) =>
        (await store.write((tx) => claim(tx, { id, node }, limit))).map(({ row }) => row.id);
      assert.deepEqual(await claimAs(A, 'one', 2), [first, second]);
      assert.equal(await hasClaimable(store.db, B), false);
      assert.deepEqual(await claimAs(B, 'two', 9), []);
      assert.deepEqual(await awaitedNodes(store.db), [
        { node: 'one', jobs: 1 },
        { node: 'three', jobs: away.length },
      ]);
      assert.equal(await nodeOf(store.db, (await findJob(store.db, third))!), 'one');
      assert.deepEqual(await claimAs(A, 'one', 9), [third]);
    });
  });
}

/** Daemons with the lock or the lease of a live one. */
function places(store: Store, t: TestContext) {
  const instancesDir = mkdtempSync(join(tmpdir(), 'gatehouse-nodes-'));
  const locks = new Map<string, { release(): void }>();
  t.after(() => {
    locks.forEach((lock) => lock.release());
    rmSync(instancesDir, { recursive: true });
  });
  const isLease = store.dialect.liveness === 'lease';
  const dead = new Set<number>();
  let pid = 1_000_000;
  return {
    instancesDir,
    bootId: 'boot',
    isRunning: (pid: number) => !dead.has(pid),
    async add(id: string, node: string): Promise<void> {
      pid += 1;
      if (!isLease) locks.set(id, holdLock(lockFile(instancesDir, pathPart('id', id))));
      const leaseUntil = isLease ? (await leaseClock(store)) + LEASE_MS : null;
      const facts = { host: 'Web 1.example', boot_id: 'boot', pid, version: '0' };
      await store.write((tx) =>
        insertDaemon(tx, { id, ...facts, started_at: tx.now, lease_until: leaseUntil, stopped_at: null, node }),
      );
    },
    async kill(id: string): Promise<void> {
      locks.get(id)?.release();
      const row = await store.db.selectFrom('daemons').select('pid').where('id', '=', id).executeTakeFirstOrThrow();
      dead.add(row.pid);
    },
  };
}
