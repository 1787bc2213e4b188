import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import { renewEveryMs, renewOnce, Trust } from './lease.ts';

const LEASE_MS = 10_000;

/** A trust whose clock and guard the test holds, and a store in which a renewal takes `takesMs` and finds `held`. */
function setUp(held: boolean, takesMs = 0) {
  let nowMs = 0;
  const limits: { untilTermMs: number; untilKillMs: number }[] = [];
  const clock = { ...systemClock, monotonic: () => nowMs };
  const trust = new Trust({ clock, leaseMs: LEASE_MS, extend: (each) => void limits.push(each) });
  const calls: string[] = [];
  const write = (): Promise<unknown> => {
    nowMs += takesMs;
    return Promise.resolve(held);
  };
  const store = { write } as unknown as Store;
  const renew = (): Promise<void> =>
    renewOnce({
      store,
      leaseMs: LEASE_MS,
      self: () => 'dmn',
      trust,
      onLate: () => void calls.push('late'),
      onLost: async () => void calls.push('lost'),
    });
  return { trust, limits, calls, renew, pass: (ms: number) => (nowMs += ms) };
}

describe('a lease', () => {
  test('F03: the jobs are ended before the lease is, also counted from before the renewal was asked for', async () => {
    const { limits, renew } = setUp(true, 1_500);
    await renew();
    assert.deepEqual(limits, [{ untilTermMs: 4_500, untilKillMs: 7_000 }]);
  });

  test('F03: a renewal whose answer took longer than the jobs may live ends them at once', async () => {
    const { limits, renew } = setUp(true, 9_000);
    await renew();
    assert.deepEqual(limits, [{ untilTermMs: 0, untilKillMs: 0 }]);
  });

  test('F03: a renewal that comes too late for the jobs, and not for the lease, says so', async () => {
    const { trust, calls, renew, pass } = setUp(true);
    await renew();
    pass(5_900);
    assert.equal(trust.isOver(), false);
    await renew();
    pass(6_000);
    assert.equal(trust.isOver(), true);
    await renew();
    assert.deepEqual([calls, trust.isOver()], [['late'], false]);
  });

  test('F03: a lease that was lost extends nothing', async () => {
    const { limits, calls, renew } = setUp(false);
    await renew();
    assert.deepEqual([limits, calls], [[], ['lost']]);
  });

  test('is renewed several times before the jobs would be ended, and never in a tight loop', () => {
    assert.ok(renewEveryMs(LEASE_MS) * 3 < LEASE_MS * 0.6);
    assert.equal(renewEveryMs(10), 100);
  });

  test('without a lease the jobs may live for ever', () => {
    const { trust, pass } = setUp(true);
    pass(Number.MAX_SAFE_INTEGER);
    assert.equal(trust.isOver(), false);
  });
});
