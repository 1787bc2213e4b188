import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rfc3339 } from '../../lib/clock.ts';
import { clockTime, relative, took } from './time.ts';

const NOON = Date.UTC(2026, 10, 21, 12, 0, 40);

test('A time of the same UTC day is shown without its date, another one with it', () => {
  assert.equal(clockTime(NOON, NOON), '12:00:40 UTC');
  assert.equal(clockTime(NOON, NOON, 'minutes'), '12:00 UTC');
  assert.equal(clockTime(NOON + 43_160_000, NOON), '2026-11-22 00:00:00 UTC');
  assert.equal(clockTime(NOON - 86_400_000, NOON, 'minutes'), '2026-11-20 12:00 UTC');
});

test('A time is so far away in its largest unit, and a date two weeks from now', () => {
  const far = [0, 1_000, -2_000, 59_499, 59_500, -3_599_000, 7_200_000, -86_400_000, 1_209_599_000, 1_209_600_000];
  assert.deepEqual(
    far.map((ms) => relative(rfc3339(NOON - ms), NOON)),
    ['now', 'now', 'in 2s', '59s ago', '1m ago', 'in 59m', '2h ago', 'in 1d', '13d ago', '2026-11-07'],
  );
});

test('What something took has two units at most', () => {
  const tookMs = [-5, 0, 499, 41_000, 72_000, 7_500_000, 90_061_000, 86_400_000 * 400];
  assert.deepEqual(
    tookMs.map((ms) => took(rfc3339(NOON), rfc3339(NOON + ms), NOON)),
    ['0s', '0s', '0s', '41s', '1m12s', '2h5m', '1d1h', '400d'],
  );
  assert.equal(took(rfc3339(NOON - 61_000), null, NOON), '1m1s', 'till now where it has no end');
});
