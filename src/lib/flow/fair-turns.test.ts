import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { nextTurn } from './cooperative.ts';
import { FairTurns, type TurnLimits, TurnsFull } from './fair-turns.ts';

const LIMITS: TurnLimits = { turnMs: 5, placesEach: 64, waitingEach: 100, waiting: 150 };

/** Tasks on a clock that moves only while one of them works. */
class Fixture {
  readonly clock = new HandClock(0);
  readonly turns: FairTurns;
  readonly started: string[] = [];

  constructor(limits: Partial<TurnLimits> = {}) {
    this.turns = new FairTurns(this.clock, { ...LIMITS, ...limits });
  }

  async task(holder: string, ms: number, until = Promise.resolve()): Promise<void> {
    const turn = this.turns.start(holder);
    if (turn !== undefined) await turn;
    this.started.push(holder);
    this.clock.monotonicMs += ms;
    await until;
    this.turns.leave(holder);
  }

  tasks(count: number, holder: string, ms: number, until?: Promise<void>): Promise<void>[] {
    return Array.from({ length: count }, () => this.task(holder, ms, until));
  }

  count(holder: string): number {
    return this.started.filter((each) => each === holder).length;
  }

  /** Nothing is left over. */
  async assertCalm(): Promise<void> {
    await nextTurn();
    assert.deepEqual([this.turns.waiting, this.turns.tasks, this.turns.holders], [0, 0, 0]);
  }
}

describe('T87: turns of the event loop', () => {
  test('T87: a holder alone starts everything that one turn has time for at once, and the rest in its order', async () => {
    const fixture = new Fixture();
    const end = Promise.withResolvers<void>();
    const short = fixture.tasks(64, 'ana', 0.01, end.promise);
    assert.equal(fixture.started.length, 64);
    end.resolve();
    await Promise.all(short);
    await nextTurn();
    const long = fixture.tasks(10, 'ana', 2);
    assert.equal(fixture.started.length, 67, 'five milliseconds of two each');
    await Promise.all(long);
    await fixture.assertCalm();
  });

  test('T87: one of another holder starts after at most three of a hundred that were there before', async () => {
    const fixture = new Fixture();
    const many = fixture.tasks(100, 'ana', 10);
    const one = fixture.task('bo', 1);
    await Promise.all([...many, one]);
    assert.ok(fixture.started.indexOf('bo') <= 3, fixture.started.slice(0, 9).join(' '));
    await fixture.assertCalm();
  });

  test('T87: holders get the same time, however long a task of each takes', async () => {
    const fixture = new Fixture();
    const tasks = [fixture.tasks(100, 'ana', 9), fixture.tasks(45, 'bo', 1)].flat();
    while (fixture.count('bo') < 45) await nextTurn();
    assert.ok(fixture.count('ana') <= 7, `${fixture.count('ana')} of 9 ms while 45 of 1 ms started`);
    await Promise.all(tasks);
    await fixture.assertCalm();
  });

  test('T87: a holder that comes back has no credit for the time that it did not use', async () => {
    const fixture = new Fixture();
    const many = fixture.tasks(100, 'ana', 5);
    while (fixture.count('ana') < 50) await nextTurn();
    const later = fixture.tasks(40, 'bo', 5);
    while (fixture.count('bo') < 20) await nextTurn();
    assert.ok(fixture.count('ana') >= 68, `${fixture.count('ana')}`);
    await Promise.all([...many, ...later]);
    await fixture.assertCalm();
  });

  test('T87: a holder has a bounded number of places, and others start although it has all of them', async () => {
    const fixture = new Fixture({ placesEach: 2 });
    const end = Promise.withResolvers<void>();
    const mine = fixture.tasks(5, 'ana', 0, end.promise);
    await nextTurn();
    assert.deepEqual([fixture.count('ana'), fixture.turns.waiting], [2, 3]);
    await fixture.task('bo', 0);
    // A part of what has begun needs no place.
    await fixture.turns.goOn('ana');
    assert.deepEqual([fixture.count('ana'), fixture.count('bo')], [2, 1]);
    end.resolve();
    await Promise.all(mine);
    await fixture.assertCalm();
  });

  test('T87: over a queue, of a holder and of all, a task is refused, and parts of what has begun are not', async () => {
    const fixture = new Fixture();
    const tasks = fixture.tasks(101, 'ana', 10);
    assert.equal(fixture.turns.waiting, 100);
    assert.throws(() => fixture.turns.start('ana'), TurnsFull);
    assert.throws(() => fixture.turns.enter('ana'), TurnsFull);
    assert.equal(fixture.turns.refused, 2);
    tasks.push(...fixture.tasks(50, 'bo', 10));
    const part = fixture.turns.goOn('ana');
    assert.ok(part instanceof Promise);
    await Promise.all([...tasks, part]);
    await fixture.assertCalm();
  });

  test('T87: where all wait that may, the newest of the holder with the most makes room for one with fewer', async () => {
    const fixture = new Fixture({ waitingEach: 10, waiting: 15 });
    const running = fixture.task('ana', 10);
    const [anas, bos] = [fixture.tasks(10, 'ana', 10), fixture.tasks(5, 'bo', 10)];
    const part = fixture.turns.goOn('ana');
    const outcomes = Promise.allSettled(anas);
    const eve = fixture.task('eve', 10);
    const enters = fixture.turns.enter('mia');
    assert.equal(fixture.turns.waiting, 16, 'a part is above the bound');
    await Promise.all([running, ...bos, eve, enters, part]);
    assert.deepEqual(
      (await outcomes).map((outcome) => (outcome.status === 'fulfilled' ? 'answered' : outcome.reason.name)),
      [...Array.from({ length: 8 }, () => 'answered'), 'TurnsFull', 'TurnsFull'],
    );
    const [first, second] = [fixture.tasks(8, 'ana', 10), fixture.tasks(8, 'bo', 10)];
    assert.throws(() => fixture.turns.enter('bo'), TurnsFull, 'no other has more');
    assert.equal(fixture.turns.refused, 3);
    await Promise.all([...first, ...second]);
    await fixture.assertCalm();
  });

  test('T87: what tasks take after their start is on the account of those that have a place', async () => {
    const fixture = new Fixture();
    const end = Promise.withResolvers<void>();
    const busy = fixture.tasks(10, 'ana', 0.1, end.promise);
    const all = [...busy, ...fixture.tasks(30, 'bo', 6), ...fixture.tasks(30, 'ana', 6)];
    await nextTurn();
    // An answer of the database on which the ten work on.
    fixture.clock.monotonicMs += 60;
    while (fixture.count('bo') < 9) await nextTurn();
    assert.ok(fixture.count('ana') - 10 <= 2, fixture.started.slice(10).join(' '));
    end.resolve();
    await Promise.all(all);
    await fixture.assertCalm();
  });

  test('T87: a task that gave its place back has its share of what no start explains', async () => {
    const fixture = new Fixture();
    const end = Promise.withResolvers<void>();
    const long = Array.from({ length: 30 }, () => {
      void fixture.turns.start('ana');
      fixture.turns.detach('ana');
    });
    const one = fixture.task('bo', 0.1, end.promise);
    const all = [...fixture.tasks(30, 'ana', 6), ...fixture.tasks(30, 'bo', 6)];
    await nextTurn();
    // Readers of the thirty have room again.
    fixture.clock.monotonicMs += 60;
    while (fixture.count('bo') < 9) await nextTurn();
    assert.ok(fixture.count('ana') <= 2, fixture.started.join(' '));
    end.resolve();
    await Promise.all([one, ...all]);
    for (const _ of long) fixture.turns.end('ana');
    await fixture.assertCalm();
  });
});
