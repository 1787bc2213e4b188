import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../clock.ts';
import { debounce } from './debounce.ts';

function timers(): { readonly clock: Clock; readonly due: Set<() => void>; readonly pass: () => void } {
  const due = new Set<() => void>();
  const after: Clock['after'] = (_ms, fire) => {
    due.add(fire);
    return () => void due.delete(fire);
  };
  const pass = (): void => {
    for (const fire of due) if (due.delete(fire)) fire();
  };
  return { clock: { ...systemClock, after }, due, pass };
}

test('Many calls within the time are one, and the next after it is another', () => {
  const { clock, due, pass } = timers();
  let fired = 0;
  const { call } = debounce(clock, 10, () => (fired += 1));
  call();
  call();
  assert.deepEqual([fired, due.size], [0, 1]);
  pass();
  assert.equal(fired, 1);
  call();
  pass();
  assert.equal(fired, 2);
});

test('What is cancelled is not fired, keeps no timer, and begins none for later calls', () => {
  const { clock, due, pass } = timers();
  let fired = 0;
  const { call, cancel } = debounce(clock, 10, () => (fired += 1));
  call();
  cancel();
  assert.equal(due.size, 0);
  call();
  cancel();
  pass();
  assert.deepEqual([fired, due.size], [0, 0]);
});
