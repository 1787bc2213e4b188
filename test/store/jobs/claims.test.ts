import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeChunk, encodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { appendOutput, appendState, chunksAfter, lastSeq, recordProgress } from '../../../src/store/jobs/chunks.ts';
import {
  cancelWaiting,
  claimJobs,
  finishJob,
  listCancelRequested,
  queueApproved,
  recordLeader,
  type Fence,
} from '../../../src/store/jobs/claims.ts';
import { findJob, requestCancel } from '../../../src/store/jobs/jobs.ts';
import type { Store } from '../../../src/store/store.ts';
import { claim, claimOne, ENGINES, enqueue, enqueueKeyed, freshStore } from '../engine-fixture.ts';

const finish = (store: Store, fence: Fence): Promise<boolean> =>
  store.write((tx) => finishJob(tx, fence, { state: 'succeeded', exitCode: 0 }));
const cancel = (store: Store, id: string): Promise<boolean> => store.write((tx) => cancelWaiting(tx, id, 'queued'));
const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id);

const line = (seq: number) => ({
  seq,
  at: '2030-01-01T00:00:00.000Z',
  type: 'log' as const,
  stream: 'stdout' as const,
  text: `line ${seq}`,
});

/** Ids of the jobs that one claim after the other gets, each ended before the next claim. */
async function drain(store: Store): Promise<string[]> {
  const order: string[] = [];
  for (;;) {
    const rows = await claim(store, 10);
    if (rows.length === 0) return order;
    order.push(...idsOf(rows));
    for (const row of rows) await finish(store, { jobId: row.id, daemonId: 'dmn_a', generation: row.lease_generation });
  }
}

for (const engine of ENGINES) {
  describe(`Claims on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('Claims follow the order of the queue and never exceed their limit', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 30; n += 1) ids.push(await enqueue(its.store));
      const claimed: string[] = [];
      for (const limit of [1, 7, 2, 11, 40]) {
        const rows = await claim(its.store, limit);
        assert.ok(rows.length <= limit, `${rows.length} of ${limit}`);
        claimed.push(...idsOf(rows));
      }
      assert.deepEqual(claimed, ids);
    });

    test('A claim marks the row with the daemon, the time and the next generation', async () => {
      await enqueue(its.store);
      const [row] = await claim(its.store, 1, 'dmn_b');
      assert.equal(row?.state, 'running');
      assert.equal(row?.daemon_id, 'dmn_b');
      assert.equal(row?.lease_generation, 1);
      assert.ok(row?.started_at !== null);
    });

    test('Jobs of one key run one at a time and in order, whatever runs beside them', async () => {
      const keyed = await enqueueKeyed(its.store, 'k', ['queued', 'queued', 'queued']);
      const free = await enqueue(its.store);
      assert.deepEqual(idsOf(await claim(its.store, 10)), [keyed[0], free]);
      assert.deepEqual(await claim(its.store, 10), []);
      await finish(its.store, { jobId: free, daemonId: 'dmn_a', generation: 1 });
      assert.deepEqual(await claim(its.store, 10), [], 'the end of another job gave the key away');
      await finish(its.store, { jobId: keyed[0]!, daemonId: 'dmn_a', generation: 1 });
      assert.deepEqual(await drain(its.store), keyed.slice(1));
    });

    test('Jobs of different keys do not wait for each other', async () => {
      const ids = [
        ...(await enqueueKeyed(its.store, 'a', ['queued'])),
        ...(await enqueueKeyed(its.store, 'b', ['queued'])),
      ];
      assert.deepEqual(idsOf(await claim(its.store, 10)), ids);
    });

    test('When the first waiting job of a key is cancelled, the next is claimable', async () => {
      const [head, second, third] = await enqueueKeyed(its.store, 'k', ['queued', 'queued', 'queued']);
      assert.equal(await cancel(its.store, head!), true);
      assert.deepEqual(await drain(its.store), [second, third]);
    });

    test('When one in the middle is cancelled, the first stays the only claimable one', async () => {
      const [head, middle, last] = await enqueueKeyed(its.store, 'k', ['queued', 'queued', 'queued']);
      assert.equal(await cancel(its.store, middle!), true);
      assert.deepEqual(idsOf(await claim(its.store, 10)), [head]);
      await finish(its.store, { jobId: head!, daemonId: 'dmn_a', generation: 1 });
      assert.deepEqual(await drain(its.store), [last]);
    });

    test('When a waiting job is cancelled while another of its key runs, nothing else starts', async () => {
      const [running, next, last] = await enqueueKeyed(its.store, 'k', ['queued', 'queued', 'queued']);
      const fence = await claimOne(its.store);
      assert.equal(fence.jobId, running);
      assert.equal(await cancel(its.store, next!), true);
      assert.deepEqual(await claim(its.store, 10), []);
      await finish(its.store, fence);
      assert.deepEqual(await drain(its.store), [last]);
    });

    test('A job that awaits approval holds no key, and queues behind earlier jobs once it is approved', async () => {
      const [gated, head, last] = await enqueueKeyed(its.store, 'k', ['awaiting_approval', 'queued', 'queued']);
      assert.equal(await its.store.write((tx) => queueApproved(tx, gated!)), true);
      assert.deepEqual(idsOf(await claim(its.store, 10)), [head]);
      await finish(its.store, { jobId: head!, daemonId: 'dmn_a', generation: 1 });
      assert.deepEqual(await drain(its.store), [gated, last]);
    });

    test('An approved job of a free key, or without a key, is claimable at once', async () => {
      const [keyed] = await enqueueKeyed(its.store, 'k', ['awaiting_approval']);
      const plain = await enqueue(its.store, { state: 'awaiting_approval' });
      assert.deepEqual(await claim(its.store, 10), []);
      for (const id of [keyed!, plain]) assert.equal(await its.store.write((tx) => queueApproved(tx, id)), true);
      assert.deepEqual(idsOf(await claim(its.store, 10)), [keyed, plain]);
    });

    test('A job that is queued later with an older id is never claimable beside the one ahead', async () => {
      const [gated, head, last] = await enqueueKeyed(its.store, 'k', ['awaiting_approval', 'queued', 'queued']);
      await its.store.write((tx) => queueApproved(tx, gated!));
      // A cancel releases the key: the oldest waiting one is now the approved one, but the head is ahead of it.
      await cancel(its.store, last!);
      assert.deepEqual(idsOf(await claim(its.store, 10)), [head]);
      await finish(its.store, { jobId: head!, daemonId: 'dmn_a', generation: 1 });
      assert.deepEqual(await drain(its.store), [gated]);
    });

    test('A cancelled job that awaited approval leaves its key as it was', async () => {
      const [gated, head, last] = await enqueueKeyed(its.store, 'k', ['awaiting_approval', 'queued', 'queued']);
      assert.equal(await its.store.write((tx) => cancelWaiting(tx, gated!, 'awaiting_approval')), true);
      assert.deepEqual(await drain(its.store), [head, last]);
    });

    test('Requested cancels are listed for the daemon that runs the job', async () => {
      const id = await enqueue(its.store);
      await claim(its.store, 1, 'dmn_a');
      await its.store.write((tx) => requestCancel(tx, id));
      assert.deepEqual(await listCancelRequested(its.store.db, 'dmn_a'), [id]);
      assert.deepEqual(await listCancelRequested(its.store.db, 'dmn_b'), []);
    });

    test('F03: late writes of a run that lost its job, or of another daemon, change nothing', async () => {
      await enqueue(its.store);
      const fence = await claimOne(its.store);
      const before = await findJob(its.store.db, fence.jobId);
      const chunk = { first_seq: 2, last_seq: 2, raw_bytes: 1, data: Buffer.from('x') };
      for (const late of [
        { ...fence, generation: 0 },
        { ...fence, generation: 2 },
        { ...fence, daemonId: 'dmn_b' },
      ]) {
        assert.equal(await its.store.write((tx) => finishJob(tx, late, { state: 'failed', exitCode: 1 })), false);
        assert.equal(await its.store.write((tx) => recordLeader(tx, late, { pid: 1, startTicks: 1 })), false);
        assert.equal(await its.store.write((tx) => appendOutput(tx, late, chunk)), false);
      }
      assert.deepEqual(await findJob(its.store.db, fence.jobId), before);
      assert.deepEqual(await chunksAfter(its.store.db, fence.jobId, 0, 10), []);
    });

    test('F03: after the end of a run nothing more of it is written', async () => {
      await enqueue(its.store);
      const fence = await claimOne(its.store);
      assert.equal(await its.store.write((tx) => recordLeader(tx, fence, { pid: 7, startTicks: 70 })), true);
      assert.equal(await finish(its.store, fence), true);
      const before = await findJob(its.store.db, fence.jobId);
      assert.equal(before?.leader_pid, 7);
      assert.equal(
        await its.store.write((tx) =>
          appendOutput(tx, fence, { first_seq: 2, last_seq: 2, raw_bytes: 1, data: Buffer.from('x') }),
        ),
        false,
      );
      assert.equal(await its.store.write((tx) => recordLeader(tx, fence, { pid: 8, startTicks: 80 })), false);
      assert.deepEqual(await findJob(its.store.db, fence.jobId), before);
    });

    test('Output and states of one job are numbered without a gap, and are read from any number on', async () => {
      const id = await enqueue(its.store);
      const { fence } = await its.store.write(async (tx) => {
        const [row] = await claimJobs(tx, 'dmn_a', 1);
        assert.equal(await appendState(tx, id, 'running', null), 2);
        return { fence: { jobId: id, daemonId: 'dmn_a', generation: row!.lease_generation } };
      });
      const data = encodeChunk([line(3), line(4)]);
      await its.store.write((tx) => appendOutput(tx, fence, { first_seq: 3, last_seq: 4, raw_bytes: 12, data }));
      assert.equal(await its.store.write((tx) => appendState(tx, id, 'succeeded', 0)), 5);
      assert.equal(await lastSeq(its.store.db, id), 5);
      const read = async (since: number): Promise<number[]> =>
        (await chunksAfter(its.store.db, id, since, 10)).flatMap((chunk) =>
          decodeChunk(chunk.data, { after: since, limit: 100 }).map((event) => event.seq),
        );
      assert.deepEqual(await read(0), [2, 3, 4, 5]);
      assert.deepEqual(await read(3), [4, 5]);
      assert.deepEqual(await read(5), []);
    });

    test('A job keeps what it was at last', async () => {
      const id = await enqueue(its.store);
      for (const task of ['Copy', 'Käse 🧀']) {
        await its.store.write((tx) => recordProgress(tx, id, { play: 'Web', task }));
        assert.equal((await findJob(its.store.db, id))?.progress, JSON.stringify({ play: 'Web', task }));
      }
    });
  });
}
