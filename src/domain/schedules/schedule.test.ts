import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countsFrom } from './schedule.ts';

describe('F10: the next slot counts from', () => {
  const HOUR = 3_600_000;
  test('the last one, where the clock was set back behind it', () =>
    assert.equal(countsFrom(10 * HOUR, 12 * HOUR), 12 * HOUR));
  test('now, where the last one is before or was never', () =>
    assert.deepEqual([countsFrom(10 * HOUR, 9 * HOUR), countsFrom(10 * HOUR, null)], [10 * HOUR, 10 * HOUR]));
  test('now, where the last one was taken by a clock that was years ahead', () =>
    assert.equal(countsFrom(10 * HOUR, 87_600 * HOUR), 10 * HOUR));
});
