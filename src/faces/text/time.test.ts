import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockTime, timeLeft } from './time.ts';

const NOON = Date.UTC(2026, 10, 21, 12, 0, 40);

test('A time of the same UTC day is shown without its date, another one with it', () => {
  assert.equal(clockTime(NOON, NOON), '12:00:40 UTC');
  assert.equal(clockTime(NOON, NOON, 'minutes'), '12:00 UTC');
  assert.equal(clockTime(NOON + 43_160_000, NOON), '2026-11-22 00:00:00 UTC');
  assert.equal(clockTime(NOON - 86_400_000, NOON, 'minutes'), '2026-11-20 12:00 UTC');
});

test('The time that is left is rounded down', () => {
  const texts = [59_999, 60_000, 3_599_999, 3_600_000, 3_660_000, 172_799_999, 172_800_000, 604_800_000].map(timeLeft);
  assert.deepEqual(texts, [
    'less than a minute left',
    '1 min left',
    '59 min left',
    '1 h 0 min left',
    '1 h 1 min left',
    '47 h 59 min left',
    '2 days left',
    '7 days left',
  ]);
});
