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

/** A log on a disk that the test breaks, slow unless it is said to be quick. */
async function scene(
  t: TestContext,
  { clock = systemClock, isQuick = false }: { clock?: Clock; isQuick?: boolean } = {},
) {
  let now = 0;
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
    now(fd) {
      here.push(fd);
      now += on.nowTakes;
      if (on.broken !== null) throw on.broken;
    },
  };
  const checkpoints: string[] = [];
  const on = {
    flushes,
    here,
    checkpoints,
    nowTakes: 0.3,
    broken: null as Error | null,
    pass: (ms: number) => void (now += ms),
    checkpoint: { busy: 0, log: 3, checkpointed: 3 } as object | Error,
  };
  const writer = {
    run(sql: string) {
      checkpoints.push(sql);
      if (on.checkpoint instanceof Error) throw on.checkpoint;
      return { rows: [on.checkpoint] };
    },
  } as unknown as SqliteConnection;
  const log = new LogSync(join(dir, 'log'), writer, { ...clock, monotonic: () => now }, flusher);
  t.after(() => log.close());
  if (!isQuick) {
    on.nowTakes = 30;
    await log.flush();
    here.length = 0;
  }
  return { ...on, on, log };
}

describe('the flush of the log', () => {
  test('F08: is pending from the commit on, until the disk has confirmed it', async (t) => {
    const { log, flushes } = await scene(t);
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
    const { log, flushes, checkpoints } = await scene(t);
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
      const { log, on, flushes } = await scene(t);
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
    const { log, here } = await scene(t, { clock });
    await log.flush();
    assert.equal(here.length, 1);
    assert.equal(log.pending, null);
  });

  test('is made in this thread on a quick disk, and in another one for a time after a slow flush', async (t) => {
    const { log, on, flushes, here } = await scene(t, { isQuick: true });
    await log.flush();
    assert.deepEqual([here.length, flushes.length, log.pending], [1, 0, null]);
    on.nowTakes = 3;
    await log.flush();
    const flushed = log.flush();
    assert.deepEqual([here.length, flushes.length], [2, 1]);
    flushes[0]?.resolve();
    await flushed;
    on.pass(250);
    await log.flush();
    assert.deepEqual([here.length, flushes.length], [3, 1]);
  });

  test('F06: that failed in this thread is made good, too', async (t) => {
    const { log, on, checkpoints } = await scene(t, { isQuick: true });
    on.broken = BROKEN;
    await log.flush();
    assert.equal(checkpoints.length, 1);
  });
});
