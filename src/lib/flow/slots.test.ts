import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

test('A holder gets no more than its own share', () => {
  const slots = new Slots({ all: 8, perHolder: 2 });
  assert.notEqual(slots.take('ana'), null);
  assert.notEqual(slots.take('ana'), null);
  assert.equal(slots.take('ana'), null);
  assert.notEqual(slots.take('ben'), null);
  assert.equal(slots.used, 3);
});

test('A refusal by the count of all leaves the holder uncharged', () => {
  const slots = new Slots({ all: 1, perHolder: 4 });
  const back = slots.take('ana');
  for (let i = 0; i < 10; i += 1) assert.equal(slots.take('ben'), null);
  back?.();
  for (let i = 0; i < 10; i += 1) {
    const again = slots.take('ben');
    assert.notEqual(again, null);
    again?.();
  }
  assert.deepEqual([slots.used, slots.holders], [0, 0]);
});

test('A place that is given back twice counts once', () => {
  const slots = new Slots({ all: 2, perHolder: 2 });
  const first = slots.take('ana');
  slots.take('ana');
  first?.();
  first?.();
  assert.deepEqual([slots.used, slots.holders], [1, 1]);
});
