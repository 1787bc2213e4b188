import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BurstStanding, burstStep, GATHER_MS, SINGLE_MAX } from './burst.ts';

const NOW = 1_000_000;
const standing = (some: Partial<BurstStanding>): BurstStanding => ({
  waiting: 0,
  oldestAt: NOW,
  shown: 0,
  folded: 0,
  now: NOW,
  ...some,
});
const step = (some: Partial<BurstStanding>): string => {
  const { singles, fold } = burstStep(standing(some));
  return fold ? 'fold' : singles > 0 ? `${singles} singles` : 'wait';
};

describe('Of notifications that come at once', () => {
  test('the first ones are sent one by one, at once', () => {
    assert.deepEqual(
      [step({ waiting: 1 }), step({ waiting: SINGLE_MAX }), step({ waiting: 2, shown: SINGLE_MAX - 2 })],
      ['1 singles', '5 singles', '2 singles'],
    );
    assert.deepEqual([step({ waiting: 30 }), step({ waiting: 30, shown: 3 })], ['5 singles', '2 singles']);
  });

  test('the others are gathered for ten seconds and then folded', () => {
    const others = { waiting: 25, shown: SINGLE_MAX };
    assert.deepEqual(
      [0, GATHER_MS - 1, GATHER_MS].map((age) => step({ ...others, oldestAt: NOW - age })),
      ['wait', 'wait', 'fold'],
    );
  });

  test('what comes within a minute after a fold waits until it is over', () => {
    assert.equal(step({ waiting: 1, folded: 1, oldestAt: NOW - 50_000 }), 'wait');
    assert.equal(step({ waiting: 1, oldestAt: NOW - 59_000 }), '1 singles');
    assert.equal(step({ waiting: 600, oldestAt: NOW - 59_000 }), 'fold');
  });

  test('those left by a daemon that died are one notification if many, and single ones if few', () => {
    assert.deepEqual([step({ waiting: 30, oldestAt: 0 }), step({ waiting: 4, oldestAt: 0 })], ['fold', '4 singles']);
  });

  test('F10: a clock that was set back holds none of them', () => {
    assert.equal(step({ waiting: 30, oldestAt: NOW + 3_600_000 }), 'fold');
  });

  test('without waiting notifications nothing is sent', () => {
    assert.equal(step({ oldestAt: 0 }), 'wait');
  });
});
