import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { currentHolder, inNameOf } from '../../../src/lib/flow/in-name-of.ts';
import { setCordon } from '../../../src/store/maintenance/cordon.ts';
import { WAITING_MAX } from '../../../src/store/engine/gate.ts';
import type { Counter, Tx } from '../../../src/store/engine/tx.ts';
import { insertJob, listJobs } from '../../../src/store/jobs/jobs.ts';
import type { Store } from '../../../src/store/store.ts';
import { enqueue, entry, ENGINES, makeJob, type TestDatabase, wipe } from '../engine-fixture.ts';

/** How long a test waits for something that must happen. */
const SOON_MS = 30_000;

const idsOf = async (store: Store): Promise<string[]> =>
  (await listJobs(store.db, {}, 1_000)).map((job) => job.id).toReversed();
const ledgerTargets = async (store: Store): Promise<(string | null)[]> =>
  (await store.db.selectFrom('ledger').select('target').orderBy('seq').execute()).map((row) => row.target);

/** A write that inserts a job and records it, then does `more`. */
function record(
  store: Store,
  id: string,
  more: (tx: Tx) => Promise<void> = async () => {},
  answer: string[] = [],
): Promise<void> {
  return store.write(async (tx) => {
    await insertJob(tx, makeJob({ id }));
    tx.record(entry(id));
    tx.afterCommit(() => answer.push(id));
    await more(tx);
  });
}

async function insertAndThrow(tx: Tx): Promise<void> {
  await insertJob(tx, makeJob({ id: 'job_1' }));
  throw new Error('what follows from it');
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A listener that counts its calls. The promise resolves at the first call, and rejects when that takes too long. */
function listener(): { call: () => void; called: Promise<void>; count: () => number } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = systemClock.after(SOON_MS, () => reject(new Error('Nothing was heard.')));
  let count = 0;
  const call = (): void => {
    count += 1;
    cancel();
    resolve();
  };
  return { call, called: promise, count: () => count };
}

/** A write that changes something and has a callback after the commit. */
function setCordonTwice(store: Store): Promise<void> {
  return store.write(async (tx) => {
    await setCordon(tx, 'ana');
    await setCordon(tx, null);
    tx.afterCommit(() => {});
  });
}

/**
 * On PostgreSQL listening begins in the background, and the first writes may be missed: this writes until one is heard.
 */
async function writeUntil(from: Store, heard: ReturnType<typeof listener>): Promise<void> {
  while (heard.count() === 0) await Promise.race([setCordonTwice(from), heard.called]);
}

for (const engine of ENGINES) {
  describe(`The write gate on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let other: Store;
    before(async () => {
      database = await engine.create();
      store = await database.open();
      other = await database.open();
    });
    after(() => database.remove());
    beforeEach(() => wipe(store));

    test('T87: a write waits for no turn of the request that began its group', async () => {
      const held = { holder: 'ana', next: () => Promise.reject(new Error('waited for its turn')) };
      const seen: unknown[] = [];
      await inNameOf(held, () => record(store, 'job-1', async () => void seen.push(currentHolder())));
      assert.deepEqual(seen, [undefined]);
    });

    test('T59: A member of a group that fails undoes only its writes: job, ledger row, notification', async () => {
      const answer: string[] = [];
      const results = await Promise.allSettled([
        record(store, 'job_1', undefined, answer),
        record(store, 'job_2', () => Promise.reject(new Failure('conflict', 'No.')), answer),
        record(store, 'job_3', undefined, answer),
        record(store, 'job_1', undefined, answer),
        record(store, 'job_5', undefined, answer),
      ]);
      assert.deepEqual(
        results.map((each) => each.status),
        ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
      );
      const [, refused, , twice] = results;
      assert.ok(
        refused?.status === 'rejected' && refused.reason instanceof Failure && refused.reason.code === 'conflict',
      );
      assert.ok(
        twice?.status === 'rejected' && store.dialect.faultOf(twice.reason) === 'unique',
        'the original cause is reported',
      );
      assert.deepEqual(await idsOf(store), ['job_1', 'job_3', 'job_5']);
      assert.deepEqual(await ledgerTargets(store), ['job_1', 'job_3', 'job_5']);
      assert.deepEqual(answer, ['job_1', 'job_3', 'job_5']);
    });

    test('A statement that is not awaited fails the write that sent it, with its cause', async () => {
      await enqueue(store, { id: 'job_1' });
      const late = store.write(async (tx) => {
        await insertJob(tx, makeJob({ id: 'job_1' }));
        // On PostgreSQL this one only says that the transaction is aborted.
        await listJobs(tx.db, {}, 1);
      });
      await assert.rejects(
        Promise.all([late, record(store, 'job_2')]),
        (error) => store.dialect.faultOf(error) === 'unique',
      );
      await assert.rejects(record(store, 'job_2'), (error) => store.dialect.faultOf(error) === 'unique');
    });

    test('A write that threw because a statement had failed fails with the error of the statement', async () => {
      await enqueue(store, { id: 'job_1' });
      await assert.rejects(store.write(insertAndThrow), (error) => store.dialect.faultOf(error) === 'unique');
    });

    test('A follower runs once after the writes of a group, in their commit', async () => {
      const seen: string[][] = [];
      const commits: number[] = [];
      const follower = async (tx: Tx): Promise<void> => {
        seen.push((await listJobs(tx.db, {}, 10)).map(({ id }) => id));
        await insertJob(tx, makeJob({ id: 'job_9' }));
        tx.afterCommit(() => commits.push(1));
      };
      const following = (tx: Tx): Promise<void> => Promise.resolve(tx.follow(follower, assert.fail));
      await Promise.all(['job_1', 'job_2'].map((id) => record(store, id, following)));
      assert.deepEqual([seen, commits], [[['job_2', 'job_1']], [1]]);
      assert.deepEqual(await idsOf(store), ['job_1', 'job_2', 'job_9']);
    });

    test('A follower that fails undoes nothing but its own writes, and the caller hears of it', async () => {
      const refusal = new Error('no');
      const heard: Promise<string[]>[] = [];
      const fails = async (tx: Tx): Promise<void> => {
        await insertJob(tx, makeJob({ id: 'job_9' }));
        throw refusal;
      };
      const orElse = (): void => void heard.push(idsOf(other));
      await record(store, 'job_1', (tx) => Promise.resolve(tx.follow(fails, orElse)));
      assert.deepEqual([await idsOf(store), await Promise.all(heard)], [['job_1'], [['job_1']]]);
    });

    test('A single write that fails leaves nothing', async () => {
      await assert.rejects(
        record(store, 'job_1', () => Promise.reject(new Error('broken'))),
        /broken/,
      );
      assert.deepEqual(await idsOf(store), []);
      assert.deepEqual(await ledgerTargets(store), []);
    });

    test('Each member of a group sees the writes of those before it; others see them after the commit', async () => {
      const seen: { inside: string[]; reader: string[]; other: string[] }[] = [];
      const look = async (tx: Tx): Promise<void> => {
        const inside = (await listJobs(tx.db, {}, 10)).map((job) => job.id).toReversed();
        seen.push({ inside, reader: await idsOf(store), other: await idsOf(other) });
      };
      await Promise.all([record(store, 'job_1', look), record(store, 'job_2', look)]);
      assert.deepEqual(seen, [
        { inside: ['job_1'], reader: [], other: [] },
        { inside: ['job_1', 'job_2'], reader: [], other: [] },
      ]);
      assert.deepEqual(await idsOf(other), ['job_1', 'job_2']);
    });

    test('A callback after the commit reads the rows of the write', async () => {
      const read = Promise.withResolvers<string[]>();
      await store.write(async (tx) => {
        await insertJob(tx, makeJob({ id: 'job_1' }));
        tx.afterCommit(() => read.resolve(idsOf(other)));
      });
      assert.deepEqual(await read.promise, ['job_1']);
    });

    test('Writes of successive turns of the event loop share a commit; an awaited one begins at once', async () => {
      const order: string[] = [];
      const write = (name: string, prompt = false): Promise<void> =>
        store.write(
          (tx) => {
            order.push(name);
            tx.afterCommit(() => order.push(`${name} done`));
            return Promise.resolve();
          },
          { prompt },
        );
      // Each is there when the turn that the gate waits for is over, and so it waits for one more.
      const second = nextTurn().then(() => write('b'));
      const third = nextTurn()
        .then(nextTurn)
        .then(() => write('c'));
      const first = write('a');
      await Promise.resolve();
      assert.equal(order.length, 0);
      await Promise.all([first, second, third]);
      assert.deepEqual(order, ['a', 'b', 'c', 'a done', 'b done', 'c done']);
      order.splice(0);
      const late = nextTurn().then(() => write('e'));
      const prompt = write('d', true);
      await Promise.all([prompt, late]);
      assert.ok(order.indexOf('d done') < order.indexOf('e'), order.join(', '));
    });

    test('Beyond the limit of waiting writes more are refused at once; those that wait are done', async () => {
      const held = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const first = store.write(async () => {
        begun.resolve();
        await held.promise;
      });
      await begun.promise;
      const waiting = Array.from({ length: WAITING_MAX }, () => store.write(() => Promise.resolve(1)));
      await assert.rejects(
        store.write(() => Promise.resolve(1)),
        (error) => error instanceof Failure && error.code === 'unavailable',
      );
      held.resolve();
      await first;
      const done = await Promise.all(waiting);
      assert.equal(done.length, WAITING_MAX);
    });

    test('What the writes of a group count is one statement for each counter, without those that fail', async () => {
      const added: string[] = [];
      const counter = (name: string): Counter => ({
        name,
        add: async (_db, count) => void added.push(`${name} ${count}`),
      });
      const [b, a] = [counter('b'), counter('a')];
      const write = (counters: readonly Counter[]): Promise<void> =>
        store.write(async (tx) => counters.forEach((each) => tx.count(each)));
      await Promise.all([write([b, a]), write([b]), write([a, b])]);
      assert.deepEqual(added, ['a 2', 'b 3']);
      added.splice(0);
      const failing = store.write(async (tx) => {
        tx.count(a);
        throw new Failure('conflict', 'no');
      });
      await Promise.all([write([b]), assert.rejects(failing), write([b])]);
      assert.deepEqual(added, ['b 2']);
    });

    test('Closing waits for the writes under way and refuses new ones; closing twice is closing once', async () => {
      const closing = await database.open();
      const last = enqueue(closing, { id: 'job_1' });
      const closed = closing.close();
      await assert.rejects(enqueue(closing), (error) => error instanceof Failure && error.code === 'unavailable');
      await Promise.all([last, closed]);
      assert.deepEqual(await idsOf(store), ['job_1']);
      await closing.close();
    });

    test('The version moves with own and with foreign commits, and stays while nothing changes', async () => {
      const versions = [store.version(), store.version()];
      await enqueue(store);
      versions.push(store.version());
      await enqueue(other);
      versions.push(store.version(), store.version());
      if (engine.hasLeases) return assert.deepEqual(versions, [null, null, null, null, null]);
      const [a, again, own, foreign, still] = versions;
      assert.equal(a, again);
      assert.equal(new Set([a, own, foreign]).size, 3);
      assert.equal(foreign, still);
    });

    test('A commit is announced to other processes, and not to its own', async () => {
      const [atStore, atOther] = [listener(), listener()];
      const stops = [store.onForeignCommit(atStore.call), other.onForeignCommit(atOther.call)];
      await writeUntil(other, atStore);
      assert.equal(atOther.count(), 0, 'the writer heard its own commit');
      await writeUntil(store, atOther);
      for (const stop of stops) stop();
      const before = atStore.count();
      await enqueue(other);
      await setCordonTwice(other);
      assert.equal(atStore.count(), before, 'a listener that was stopped was called');
    });
  });
}
