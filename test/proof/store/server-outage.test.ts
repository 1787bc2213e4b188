import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { TEST_RING, testKeyring } from '../../support/seal.ts';
import { insertJob, listJobs } from '../../../src/store/jobs/jobs.ts';
import { verifyLedger } from '../../../src/store/audit/verify.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres/postgres.ts';
import { entry, makeJob } from '../../store/engine-fixture.ts';

const IN_FLIGHT = 8;
const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.code === 'unavailable';

async function insertOne(store: Store, answer: () => void = () => {}): Promise<string> {
  const job = makeJob();
  await store.write(async (tx) => {
    await insertJob(tx, job);
    tx.record(entry(job.id));
    tx.afterCommit(answer);
  });
  return job.id;
}

/** Tries until it succeeds; each error before that must be `unavailable`. */
async function whenBack<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      assert.ok(isUnavailable(error), String(error));
    }
  }
}

describe('When PostgreSQL is down', () => {
  let server: PostgresServer;
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await openStore({
      location: { url: server.url },
      clock: systemClock,
      daemonId: newId('dmn', Date.now()),
      keyring: testKeyring,
    });
    stores.push(store);
    return store;
  };
  before(async () => {
    server = await startPostgres();
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  });

  test('F24: writes fail as unavailable, no acknowledged write is lost, and the store recovers by itself', async () => {
    const store = await open();
    const acknowledged: string[] = [];
    const failures: unknown[] = [];
    const enough = Promise.withResolvers<void>();
    const writers = Array.from({ length: IN_FLIGHT }, async () => {
      while (failures.length < IN_FLIGHT) {
        try {
          acknowledged.push(await insertOne(store));
          if (acknowledged.length === 50) enough.resolve();
        } catch (error) {
          failures.push(error);
        }
      }
    });
    await enough.promise;
    await server.kill();
    await Promise.all(writers);
    for (const error of failures) assert.ok(isUnavailable(error), String(error));
    await assert.rejects(listJobs(store.db, {}, 1), isUnavailable);
    await server.start();
    acknowledged.push(await whenBack(() => insertOne(store)));
    const kept = new Set((await listJobs(store.db, {}, 100_000)).map((job) => job.id));
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
    const verdict = await verifyLedger(store.db, TEST_RING);
    assert.deepEqual(verdict.faults, []);
    assert.equal(verdict.rows, kept.size);
  });

  test('The connection that listens to other daemons reconnects', async () => {
    const [store, other] = [await open(), await open()];
    const heard: number[] = [];
    store.onForeignCommit(() => heard.push(1));
    const hearsAgain = async (): Promise<void> => {
      heard.length = 0;
      while (heard.length === 0) await whenBack(() => insertOne(other));
    };
    await hearsAgain();
    await server.kill();
    await server.start();
    await hearsAgain();
  });

  test('A connection that the server ends, idle or within a transaction, costs one write at most', async () => {
    const store = await open();
    const admin = new Client({ connectionString: server.url });
    await admin.connect();
    const endAll = (): Promise<unknown> =>
      admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and ' +
          "backend_type = 'client backend'",
      );
    await insertOne(store);
    await endAll();
    await whenBack(() => insertOne(store));
    const cut = store.write(async (tx) => {
      await insertJob(tx, makeJob());
      await endAll();
      await listJobs(tx.db, {}, 1);
    });
    await assert.rejects(cut, isUnavailable);
    await whenBack(() => insertOne(store));
    await admin.end();
  });

  test('A store cannot be opened on a server that is not there, and says so', async () => {
    const url = new URL(server.url);
    url.port = '1';
    await assert.rejects(
      openStore({ location: { url: url.href }, clock: systemClock, daemonId: 'dmn_a', keyring: testKeyring }),
      /ECONNREFUSED/,
    );
  });
});
