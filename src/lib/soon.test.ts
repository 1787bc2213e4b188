import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { soon } from './soon.ts';

test('Many calls within the time are one, and the next after it is another', () => {
  const due: (() => void)[] = [];
  let fired = 0;
  const call = soon({ ...systemClock, after: (_ms, fire) => (due.push(fire), () => undefined) }, 10, () => (fired += 1));
  call();
  call();
  assert.equal(fired, 0);
  assert.equal(due.length, 1);
  due.shift()?.();
  assert.equal(fired, 1);
  call();
  due.shift()?.();
  assert.equal(fired, 2);
});
