/** What metrics read of the queue, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cancelWaiting } from '../../../src/store/jobs/claims.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { readOpenJobs } from '../../../src/store/jobs/open-jobs.ts';
import { claim, ENGINES, enqueue, freshStore } from '../engine-fixture.ts';

for (const engine of ENGINES)
  describe(`Open jobs on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are counted by state, without those that ended, and the oldest queued one is named', async () => {
      const counts = async (): Promise<Record<string, number>> =>
        Object.fromEntries((await readOpenJobs(its.store.db)).counts.map(({ state, count }) => [state, count]));
      assert.deepEqual(await counts(), { queued: 0, running: 0, awaiting_approval: 0 });
      assert.equal((await readOpenJobs(its.store.db)).oldestQueuedAt, null);

      await enqueue(its.store);
      await claim(its.store, 1);
      const second = await enqueue(its.store);
      const third = await enqueue(its.store);
      assert.deepEqual(await counts(), { queued: 2, running: 1, awaiting_approval: 0 });
      const { oldestQueuedAt } = await readOpenJobs(its.store.db);
      assert.equal(oldestQueuedAt, (await getJob(its.store.db, second)).created_at);

      for (const id of [second, third]) await its.store.write((tx) => cancelWaiting(tx, id, 'queued'));
      assert.deepEqual(await counts(), { queued: 0, running: 1, awaiting_approval: 0 });
    });
  });
