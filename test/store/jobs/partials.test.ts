/** The unfinished line of a running job: one row, for the run that owns the job, until its end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { showPartial } from '../../../src/daemon/jobs/run-end.ts';
import type { PartialLine } from '../../../src/domain/jobs/job.ts';
import { followJob } from '../../../src/operations/jobs/job-events.ts';
import { appendOutput } from '../../../src/store/jobs/chunks.ts';
import { finishJob } from '../../../src/store/jobs/claims.ts';
import { findPartial, setPartial } from '../../../src/store/jobs/partials.ts';
import { encodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { claimOne, ENGINES, enqueue, freshStore } from '../engine-fixture.ts';

const line = (text: string): PartialLine => ({ stream: 'stderr', data: Buffer.from(text) });
const sent = (text: string): object => ({ event: 'partial', data: { type: 'partial', stream: 'stderr', text } });
const jobChanged = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Ends a follower that never gets what it waits for. */
const WAIT_MS = 60_000;
const NUL = Buffer.from([0x61, 0, 0xff]);

for (const engine of ENGINES) {
  describe(`The unfinished line of a job on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('is one row, of any bytes, that the next one replaces and the end of the job removes', async () => {
      const jobId = await enqueue(its.store);
      const fence = await claimOne(its.store);
      const show = (partial: PartialLine | null): Promise<boolean> =>
        its.store.write((tx) => showPartial(tx, fence, partial));
      assert.equal(await show(line('10 %')), true);
      assert.equal(await show({ stream: 'stdout', data: NUL }), true);
      const found = await findPartial(its.store.db, jobId);
      assert.deepEqual([found?.stream, Buffer.from(found?.data ?? [])], ['stdout', NUL]);
      assert.equal((await its.store.db.selectFrom('job_partials').select('job_id').execute()).length, 1);
      await show(null);
      assert.equal(await findPartial(its.store.db, jobId), undefined);
      await show(line('Sure? '));
      await its.store.write((tx) => finishJob(tx, fence, { state: 'interrupted', exitCode: null }));
      assert.equal(await findPartial(its.store.db, jobId), undefined);
      assert.equal(await show(line('late')), false, 'a run that lost its job writes none');
      assert.equal(await findPartial(its.store.db, jobId), undefined);
    });

    test('is sent as partial after the events, again after others, and not of a job that has ended', async () => {
      const jobId = await enqueue(its.store);
      const fence = await claimOne(its.store);
      await its.store.write((tx) => showPartial(tx, fence, line('Sure? ')));
      const stream = followJob(its.store.db, { jobChanged }, jobId, 1, AbortSignal.timeout(WAIT_MS));
      const next = async (): Promise<unknown> => (await stream.next()).value;
      assert.deepEqual(await next(), sent('Sure? '));
      const event = { seq: 2, at: '2030-01-01T00:00:00.000Z', type: 'log', stream: 'stdout', text: 'x' } as const;
      const chunk = { first_seq: 2, last_seq: 2, raw_bytes: 1, data: encodeChunk([event]) };
      await its.store.write((tx) => appendOutput(tx, fence, chunk));
      assert.deepEqual(await next(), { event: 'log', id: 2, data: event });
      assert.deepEqual(await next(), sent('Sure? '));
      await its.store.write((tx) => showPartial(tx, fence, null));
      assert.deepEqual(await next(), sent(''));
      await its.store.write(async (tx) => {
        await finishJob(tx, fence, { state: 'succeeded', exitCode: 0 });
        // As a daemon of an earlier build may leave it.
        setPartial(tx, jobId, line('stale'));
      });
      assert.deepEqual(await next(), { event: 'end', data: { state: 'succeeded', exit_code: 0 } });
    });
  });
}
