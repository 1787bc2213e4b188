import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DueQueue } from './due-queue.ts';

test('Items leave the queue by their time, however they came in', () => {
  let seed = 3;
  const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % 500;
  const queue = new DueQueue<{ dueAt: number }>();
  const expected: number[] = [];
  queue.reset(Array.from({ length: 200 }, () => ({ dueAt: random() })));
  const held: number[] = [];
  for (let round = 0; round < 2_000; round += 1) {
    const before = queue.first?.dueAt ?? null;
    assert.equal(queue.take()?.dueAt ?? null, before);
    if (before !== null) held.push(before);
    const next = (before ?? 0) + random();
    queue.add({ dueAt: next });
    expected.push(next);
  }
  assert.equal(queue.size, 200);
  assert.deepEqual(
    held,
    held.toSorted((a, b) => a - b),
  );
  const rest: number[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) rest.push(item.dueAt);
  assert.equal(rest.length, 200);
  assert.deepEqual(
    rest,
    rest.toSorted((a, b) => a - b),
  );
  assert.deepEqual([queue.size, queue.take(), expected.length], [0, undefined, 2_000]);
});
