import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../../lib/clock.ts';
import type { LeaseTimes } from '../../../runners/process/lease-times.ts';
import { newSharedLease, renewEveryMs, renewOnce, type Renewal, Trust } from './trust.ts';

const LEASE_MS = 10_000;

/** A trust whose clock the test holds, and a renewal that takes `takesMs` and finds `held`. */
function setUp(held: boolean, takesMs = 0) {
  let nowMs = 0;
  const times: LeaseTimes[] = [];
  const shared = newSharedLease();
  const clock = { ...systemClock, monotonic: () => nowMs };
  const trust = new Trust(clock, LEASE_MS, shared);
  const renew = (): Promise<Renewal> =>
    renewOnce({
      trust,
      renew: () => {
        nowMs += takesMs;
        return Promise.resolve(held);
      },
      extend: (each) => void times.push(each),
    });
  // As another thread of the process sees it.
  const other = new Trust(clock, LEASE_MS, shared);
  return { trust, other, times, renew, pass: (ms: number) => (nowMs += ms) };
}

describe('a lease', () => {
  test('F03: the jobs are ended before the lease is, also counted from before the renewal was asked for', async () => {
    const { times, renew } = setUp(true, 1_500);
    assert.equal(await renew(), 'in-time');
    assert.deepEqual(times, [{ termAt: 6_000, killAt: 8_500 }]);
  });

  test('F03: a renewal whose answer took longer than the jobs may live ends them at once', async () => {
    const { trust, times, renew } = setUp(true, 9_000);
    await renew();
    assert.deepEqual(times, [{ termAt: 6_000, killAt: 8_500 }]);
    assert.equal(trust.isOver(), true);
  });

  test('F03: a renewal that comes too late for the jobs, and not for the lease, says so', async () => {
    const { trust, other, renew, pass } = setUp(true);
    await renew();
    pass(5_900);
    assert.deepEqual([trust.isOver(), other.isOver()], [false, false]);
    await renew();
    pass(6_000);
    assert.deepEqual([trust.isOver(), other.isOver()], [true, true]);
    assert.equal(await renew(), 'late');
    assert.deepEqual([trust.isOver(), other.isOver()], [false, false]);
  });

  test('F03: a lease that was lost extends nothing', async () => {
    const { times, renew } = setUp(false);
    assert.equal(await renew(), 'lost');
    assert.deepEqual(times, []);
  });

  test('is renewed several times before the jobs would be ended, and never in a tight loop', () => {
    assert.ok(renewEveryMs(LEASE_MS) * 3 < LEASE_MS * 0.6);
    assert.equal(renewEveryMs(10), 100);
  });

  test('without a lease the jobs may live for ever', () => {
    const { trust, pass } = setUp(true);
    pass(Number.MAX_SAFE_INTEGER / 1_000 - 1);
    assert.equal(trust.isOver(), false);
  });
});
