import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '../clock.ts';
import { YieldTimer, nextTurn, TaskSlicer } from './cooperative.ts';

/** A clock of which each piece of work takes a millisecond. */
function countedClock(): Clock & { work: () => void } {
  let ms = 0;
  return { ...systemClock, monotonic: () => ms, work: () => void (ms += 1) };
}

describe('Works that share the event loop', () => {
  test('are done at once where they are short', async () => {
    const clock = countedClock();
    const turns = new TaskSlicer(clock);
    const seen: number[] = [];
    const done = turns.each([1, 2, 3], (item) => {
      clock.work();
      seen.push(item);
      return item * 10;
    });
    assert.deepEqual(seen, [1, 2, 3]);
    assert.deepEqual(await done, [10, 20, 30]);
    assert.deepEqual(await turns.each([], () => 1), []);
  });

  test('together take no more of a turn than one of them alone would, and each continues in its turn', async () => {
    const clock = countedClock();
    const turns = new TaskSlicer(clock);
    const items = Array.from({ length: 20 }, (_, i) => i);
    const done: string[] = [];
    const works = ['a', 'b', 'c'].map((name) =>
      turns.each(items, (item) => {
        clock.work();
        done.push(`${name}${item}`);
      }),
    );
    const perTurn: number[] = [];
    for (let before = 0; done.length < 60; before = done.length) {
      await nextTurn();
      perTurn.push(done.length - before);
    }
    assert.ok(Math.max(...perTurn) <= 10, `pieces in each turn: ${perTurn.join(' ')}`);
    // None is done before the others have got far.
    for (const name of ['a', 'b', 'c']) assert.ok(done.lastIndexOf(`${name}19`) >= 40, done.join(' '));
    await Promise.all(works);
  });

  test('of which one throws end that one alone', async () => {
    const clock = countedClock();
    const turns = new TaskSlicer(clock);
    const broken = turns.each([1, 2, 3], (item) => {
      clock.work();
      if (item === 2) throw new Error('two');
      return item;
    });
    const fine = turns.each([1, 2, 3, 4, 5, 6, 7, 8, 9], (item) => {
      clock.work();
      return item;
    });
    await assert.rejects(broken, /two/);
    assert.equal((await fine).length, 9);
  });

  test('that are alone breathe when their time is over, and not before', async () => {
    const clock = countedClock();
    const breather = new YieldTimer(clock);
    assert.equal(breather.isDue, false);
    for (let i = 0; i < 5; i += 1) clock.work();
    assert.equal(breather.isDue, true);
    await breather.breathe();
    assert.equal(breather.isDue, false);
  });
});
