import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from './shares.ts';

test('A holder gets no more than its own share', () => {
  const shares = new Shares({ all: 8, perHolder: 2 });
  assert.notEqual(shares.take('ana'), null);
  assert.notEqual(shares.take('ana'), null);
  assert.equal(shares.take('ana'), null);
  assert.notEqual(shares.take('ben'), null);
  assert.equal(shares.used, 3);
});

test('A refusal by the count of all leaves the holder uncharged', () => {
  const shares = new Shares({ all: 1, perHolder: 4 });
  const back = shares.take('ana');
  for (let i = 0; i < 10; i += 1) assert.equal(shares.take('ben'), null);
  back?.();
  for (let i = 0; i < 10; i += 1) {
    const again = shares.take('ben');
    assert.notEqual(again, null);
    again?.();
  }
  assert.deepEqual([shares.used, shares.holders], [0, 0]);
});

test('A place that is given back twice counts once', () => {
  const shares = new Shares({ all: 2, perHolder: 2 });
  const first = shares.take('ana');
  shares.take('ana');
  first?.();
  first?.();
  assert.deepEqual([shares.used, shares.holders], [1, 1]);
});

test('T76: only holders with a place are kept, never more than there are places, and no holder is counted for null', () => {
  const shares = new Shares({ all: 4, perHolder: 2 });
  const left = ['a', 'a', 'a', 'b', 'c', 'd'].map((holder) => shares.take(holder));
  assert.deepEqual(
    left.map((leave) => leave !== null),
    [true, true, false, true, true, false],
  );
  assert.deepEqual([shares.holders, typeof shares.take(null)], [3, 'function']);
  for (const leave of left) leave?.();
  assert.deepEqual([shares.holders, shares.used], [0, 0]);
});
