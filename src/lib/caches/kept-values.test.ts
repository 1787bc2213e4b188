import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptValues } from './kept-values.ts';

const characters = (most: number): KeptValues<string> =>
  new KeptValues({ most, sizeOf: (_key, value) => value.length });

test('A value is found under its key until the counter changes, and never again after', () => {
  const kept = characters(1_000);
  kept.keep('1', 'k', 'one');
  assert.equal(kept.find('1', 'k'), 'one');
  assert.equal(kept.find('1', 'other'), undefined);
  assert.equal(kept.find('2', 'k'), undefined);
  kept.keep('2', 'other', 'two');
  assert.equal(kept.find('2', 'k'), undefined);
  assert.equal(kept.find('1', 'k'), undefined);
});

test('Without a counter of changes nothing is kept', () => {
  const kept = characters(1_000);
  kept.keep(null, 'k', 'one');
  assert.deepEqual([kept.find(null, 'k'), kept.size], [undefined, 0]);
});

test('What is kept is bounded: the oldest value is dropped first, and a too large one is never kept', () => {
  const kept = characters(1_000);
  for (let i = 0; i < 1_000; i += 1) {
    kept.keep('1', `k${i}`, 'x'.repeat(50));
    assert.ok(kept.size <= 1_000);
  }
  assert.equal(kept.find('1', 'k0'), undefined);
  assert.equal(kept.find('1', 'k999'), 'x'.repeat(50));
  kept.keep('1', 'large', 'x'.repeat(500));
  assert.equal(kept.find('1', 'large'), undefined);
});
