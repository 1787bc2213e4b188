import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { nextTurn } from '../../../lib/flow/cooperative.ts';
import { SqliteConnection } from './driver.ts';
import { FlushFailed, type Flusher, LogSync } from './log-sync.ts';

const BROKEN = Object.assign(new Error('EIO'), { code: 'EIO' });

/** A log on a disk that the test breaks. */
function scene(t: TestContext, clock: Clock = systemClock) {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-log-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'log'), '');
  const flushes: PromiseWithResolvers<void>[] = [];
  const here: number[] = [];
  const flusher: Flusher = {
    later: () => {
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      return flush.promise;
    },
    now: (fd) => void here.push(fd),
  };
  const checkpoints: string[] = [];
  const on = { flushes, here, checkpoints, checkpoint: { busy: 0, log: 3, checkpointed: 3 } as object | Error };
  const writer = {
    run(sql: string) {
      checkpoints.push(sql);
      if (on.checkpoint instanceof Error) throw on.checkpoint;
      return { rows: [on.checkpoint] };
    },
  } as unknown as SqliteConnection;
  const log = new LogSync(join(dir, 'log'), writer, clock, flusher);
  t.after(() => log.close());
  return { ...on, on, log };
}

describe('the flush of the log', () => {
  test('F08: is pending from the commit on, until the disk has confirmed it', async (t) => {
    const { log, flushes } = scene(t);
    assert.equal(log.pending, null);
    const flushed = log.flush();
    let isOver = false;
    const { pending } = log;
    void Promise.resolve(pending).then(() => (isOver = true));
    await nextTurn();
    assert.deepEqual([pending === null, isOver], [false, false]);
    flushes[0]?.resolve();
    await flushed;
    await nextTurn();
    assert.deepEqual([log.pending === null, isOver], [true, true]);
  });

  test('F06: that failed is made good by moving the log into the database', async (t) => {
    const { log, flushes, checkpoints } = scene(t);
    const flushed = log.flush();
    flushes[0]?.reject(BROKEN);
    await flushed;
    assert.deepEqual(checkpoints, ['pragma wal_checkpoint(full)']);
    log.restore();
    assert.equal(checkpoints.length, 1, 'and it is certain from then on');
  });

  for (const [why, checkpoint] of [
    ['the disk stays broken', BROKEN],
    ['another process keeps the log from being moved', { busy: 1, log: 3, checkpointed: 1 }],
  ] as const)
    test(`F06: fails where ${why}, and the next transaction is refused until the log is moved`, async (t) => {
      const { log, on, flushes } = scene(t);
      on.checkpoint = checkpoint;
      const flushed = log.flush();
      const { pending } = log;
      flushes[0]?.reject(BROKEN);
      await assert.rejects(flushed, FlushFailed);
      await pending;
      assert.throws(() => log.restore(), FlushFailed);
      on.checkpoint = { busy: 0, log: 3, checkpointed: 3 };
      log.restore();
    });

  test('is made in this thread where the others are held', async (t) => {
    const clock: Clock = { ...systemClock, after: (_ms, fire) => systemClock.after(1, fire) };
    const { log, here } = scene(t, clock);
    await log.flush();
    assert.equal(here.length, 1);
    assert.equal(log.pending, null);
  });
});
