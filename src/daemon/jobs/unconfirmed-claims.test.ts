import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scene } from '../../../test/support/store/work-scene.ts';
import { UNCONFIRMED_REASON } from '../../domain/jobs/end-reason.ts';
import { Failure } from '../../domain/failure.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';

for (const isCommitted of [true, false])
  test(`F06: a refused claim that ${isCommitted ? 'is' : 'is not'} in the store leaves no job running`, async (t) => {
    let later = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + later };
    const on = await scene(t, { clock });
    const id = await on.job();
    const write = on.store.write.bind(on.store);
    const broken = new Failure('unavailable', 'The store cannot be reached.');
    Reflect.set(on.store, 'write', async (body: Parameters<typeof write>[0]) => {
      await write(async (tx) => {
        await body({ ...tx, afterCommit: () => undefined });
        if (!isCommitted) throw broken;
      }).catch(() => undefined);
      throw broken;
    });
    await assert.rejects(on.work.claimOnce(), broken);
    Reflect.set(on.store, 'write', write);
    await on.work.cancelOnce();
    assert.equal((await on.row(id)).state, isCommitted ? 'running' : 'queued', 'the commit may still be answered');
    later = 31_000;
    await on.work.cancelOnce();
    const { state, reason } = await on.row(id);
    assert.deepEqual(
      [state, reason, on.withoutEvent, on.programs.length],
      isCommitted ? ['interrupted', UNCONFIRMED_REASON, 1, 0] : ['queued', null, 0, 0],
    );
    await on.work.cancelOnce();
    assert.equal(on.withoutEvent, isCommitted ? 1 : 0, 'it is ended once');
  });
