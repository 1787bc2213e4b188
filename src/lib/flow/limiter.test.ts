import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limiter, LimiterFull } from './limiter.ts';

test('At most as many tasks run as may, the next wait in order, and what comes after is refused at once', async () => {
  const limiter = new Limiter({ running: 2, waiting: 2 });
  const begun: number[] = [];
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const runs = gates.map((gate, i) =>
    limiter.run(() => {
      begun.push(i);
      return gate.promise;
    }),
  );
  assert.deepEqual(begun, [0, 1]);
  await assert.rejects(
    limiter.run(() => Promise.resolve()),
    LimiterFull,
  );
  gates[1]!.resolve();
  await runs[1];
  assert.deepEqual(begun, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(runs);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.deepEqual([limiter.running, limiter.waiting], [0, 0]);
});

test('A task that fails gives its place on', async () => {
  const limiter = new Limiter({ running: 1, waiting: 1 });
  const failing = limiter.run(() => Promise.reject(new Error('broken')));
  const next = limiter.run(() => Promise.resolve('done'));
  await assert.rejects(failing, /broken/);
  assert.equal(await next, 'done');
  assert.equal(limiter.running, 0);
});
