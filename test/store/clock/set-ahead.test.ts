/** F10: what a clock that jumps ends and does not end, on each database; and how a jump is noticed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreClock } from '../../../src/daemon/core/store-clock.ts';
import { recordOutcomes } from '../../../src/daemon/events/job-outcome-events.ts';
import { ClockWatch } from '../../../src/daemon/maintenance/clock-watch.ts';
import { expireOnce } from '../../../src/daemon/approvals/expire.ts';
import { othersSeenAt } from '../../../src/daemon/core/presence.ts';
import { addRefusals, listRefusals } from '../../../src/store/events/webhook-refusals.ts';
import { finishJob } from '../../../src/store/jobs/claims.ts';
import { settle } from '../../../src/store/approvals/approvals.ts';
import { markStopped } from '../../../src/store/maintenance/daemons.ts';
import { HandClock } from '../../support/clock.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { reactionOf } from '../../support/fixtures/reaction.ts';
import { storeAt } from '../../support/fixtures/schedules.ts';
import { DAY_MS, HOUR_MS, timeNow } from './stored-cases.ts';
import { addDaemon, claimOne, enqueue, ENGINES, freshStore } from '../engine-fixture.ts';

for (const engine of ENGINES) {
  describe(`F10: A clock that was set ahead, on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('ends a pending approval for good: it takes no decision after the clock was set back', async () => {
      const { store } = its;
      const { approval } = await gate(store, { ttlMs: HOUR_MS });
      const time = timeNow(2 * HOUR_MS);
      // The expiry itself reads the time in its write, which a test of PostgreSQL cannot move.
      await store.write(({ db }) => db.updateTable('approvals').set({ expires_at: 1 }).execute());
      await expireOnce({
        store: storeAt(store, time),
        clock: time.clock,
        announceJob: () => undefined,
        self: () => 'dmn_a',
      });
      await store.write(({ db }) =>
        db
          .updateTable('approvals')
          .set({ expires_at: Date.now() + HOUR_MS })
          .execute(),
      );
      const decision = { to: 'approved', by: 'ana', via: 'api', reason: null, owner: null } as const;
      assert.equal(await store.write((tx) => settle(tx, approval.id, decision)), undefined);
    });

    test('and back leaves no end of a job without an event, also where its daemon is gone', async () => {
      const { store } = its;
      const jobId = await enqueue(store);
      const fence = await claimOne(store, 'dmn_gone');
      await store.write((tx) => finishJob(tx, fence, { state: 'succeeded', exitCode: 0 }));
      const record = (byMs: number): Promise<void> =>
        recordOutcomes({
          reaction: { ...reactionOf(store), clock: timeNow(byMs).clock },
          self: () => 'dmn_a',
          signals: { emit: () => assert.fail() } as never,
        });
      const event = async (): Promise<string | null> =>
        (await store.db.selectFrom('jobs').select('outcome_event_id').where('id', '=', jobId).executeTakeFirstOrThrow())
          .outcome_event_id;
      await record(-30_000);
      assert.equal(await event(), null, 'the clocks of two daemons may differ: the daemon of the job may still do it');
      await record(-DAY_MS);
      assert.notEqual(await event(), null);
    });

    test('and back does not make the doctor count refused messages of the future', async () => {
      const { store } = its;
      await store.write((tx) => addRefusals(tx, [{ webhook: 'dog', reason: 'too_many_alerts', count: 3 }]));
      assert.equal((await listRefusals(store.db, Date.now())).length, 1);
      assert.deepEqual(await listRefusals(store.db, timeNow(-2 * DAY_MS).now()), []);
    });

    test('is noticed at the start by when a daemon was last seen: nothing is deleted for a week', async () => {
      const { store } = its;
      for (const id of ['dmn_a', 'dmn_future']) {
        await addDaemon(store, id);
        await store.write((tx) => markStopped(tx, id));
      }
      const lastAt = timeNow(-HOUR_MS).now();
      const stopped = (id: string, at: number) =>
        store.write(({ db }) => db.updateTable('daemons').set({ stopped_at: at }).where('id', '=', id).execute());
      await stopped('dmn_a', lastAt);
      // The end that a clock of the future has noted says nothing about this one.
      await stopped('dmn_future', lastAt + 3_650 * DAY_MS);
      const watchAt = async (nowMs: number): Promise<{ clock: HandClock; watch: ClockWatch }> => {
        const clock = new HandClock(nowMs);
        const seenAt = await othersSeenAt({ store, clock, instancesDir: '/nowhere', self: () => 'dmn_me' });
        assert.equal(seenAt, lastAt);
        return { clock, watch: new ClockWatch(clock, seenAt) };
      };
      assert.equal((await watchAt(lastAt + 6 * DAY_MS)).watch.isSuspicious(), false);
      const { clock, watch } = await watchAt(lastAt + 8 * DAY_MS);
      assert.equal(watch.isSuspicious(), true);
      clock.advance(7 * DAY_MS - 1);
      assert.equal(watch.isSuspicious(), true);
      clock.advance(1);
      assert.equal(watch.isSuspicious(), false);
    });
  });
}

test('F10: A jump of the store is noticed, a database that answers late and drift are not', async () => {
  const clock = new HandClock();
  let [lateMs, databaseAheadMs] = [0, 0];
  const store = {
    db: null as never,
    dialect: {
      clock() {
        const now = clock.now() + databaseAheadMs;
        clock.advance(lateMs);
        return Promise.resolve(now);
      },
    } as never,
  };
  const time = new StoreClock({ store, clock });
  const read = async (): Promise<string> => (await time.read()).wasSet;
  assert.equal(await read(), 'first');
  assert.equal(await read(), 'no');
  lateMs = 30_000;
  assert.equal(await read(), 'no');
  lateMs = 0;
  assert.equal(await read(), 'no');
  databaseAheadMs = HOUR_MS;
  assert.equal(await read(), 'ahead');
  assert.equal(await read(), 'no');
  databaseAheadMs = 0;
  assert.equal(await read(), 'back');
  for (let n = 0; n < 10; n += 1) {
    databaseAheadMs -= 900;
    assert.equal(await read(), 'no');
  }
});
