import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { observe, type Reading, type SweepState, type Transition, UNSEEN } from './observe.ts';

const INTERVAL = 30_000;

/** Feeds readings, one each interval: `u`p, `d`own, `-` missed; upper case while snoozed. */
function feed(readings: string, from: SweepState = UNSEEN, everyMs = INTERVAL, startAt = 0) {
  let state = from;
  let at = startAt;
  const transitions: (Transition & { readonly after: number })[] = [];
  for (const [index, letter] of readings.split('').entries()) {
    const reading: Reading = letter === '-' ? 'missed' : letter.toLowerCase() === 'u' ? 'up' : 'down';
    at += everyMs;
    const step = observe(state, { at, reading, isSnoozed: /[A-Z]/.test(letter), intervalMs: everyMs });
    state = step.state;
    if (step.transition !== null) transitions.push({ ...step.transition, after: index + 1 });
  }
  return { state, transitions, said: transitions.map(({ status, after }) => `${status}@${after}`).join(' ') };
}

describe('The first observation', () => {
  test('seeds the status without a transition, up or down', () => {
    for (const [reading, status] of [
      ['u', 'up'],
      ['d', 'down'],
    ] as const) {
      const { state, said } = feed(reading);
      assert.deepEqual([state.status, state.lastChange, said], [status, INTERVAL, '']);
    }
  });

  test('that was missed seeds nothing', () => {
    assert.deepEqual(feed('---').state, UNSEEN);
    assert.equal(feed('---d').state.status, 'down');
  });

  test('seeds a snoozed target too, which withholds nothing', () => {
    const { state, said } = feed('Dd');
    assert.deepEqual([state.status, state.withheld, said], ['down', null, '']);
  });
});

describe('F35: a transition', () => {
  test('counts with the third observation in a row that disagrees, and once', () => {
    assert.equal(feed('uddd').said, 'firing@4');
    assert.equal(feed('udddddddd').said, 'firing@4');
    assert.equal(feed('uddduuuddd').said, 'firing@4 resolved@7 firing@10');
  });

  test('has the times of its three observations, the newest last', () => {
    const [transition] = feed('uuddd').transitions;
    assert.deepEqual(transition?.observedAt, [3 * INTERVAL, 4 * INTERVAL, 5 * INTERVAL]);
    assert.equal(feed('uuddd').state.lastChange, 5 * INTERVAL);
  });

  test('does not count for a target that flaps', () => {
    assert.equal(feed(`u${'du'.repeat(50)}${'ddu'.repeat(50)}`).said, '');
    assert.equal(feed('uddu').state.disagreeing.length, 0);
  });

  test('is not brought nearer or further by a missed observation', () => {
    assert.equal(feed('u-d--d-d').said, 'firing@8');
    assert.deepEqual(feed('udd').state, feed('udd---').state);
  });

  test('begins its count again after a sleep of eight hours, not after a slow sweep', () => {
    const before = feed('udd').state;
    assert.equal(feed('d', before, INTERVAL, 8 * 3_600_000).said, '');
    assert.equal(feed('ddd', before, INTERVAL, 8 * 3_600_000).said, 'firing@3');
    assert.equal(feed('d', before, INTERVAL, 5 * 60_000).said, 'firing@1');
    const daily = feed('udd', UNSEEN, 86_400_000).state;
    assert.equal(feed('d', daily, 86_400_000, 5 * 86_400_000).said, 'firing@1');
  });

  test('F10: is counted also when the clock was set back', () => {
    assert.equal(feed('d', feed('udd').state, INTERVAL, -7_200_000).said, 'firing@1');
  });
});

describe('A snooze', () => {
  test('lets the status change and returns the transition with the first observation after it', () => {
    const { state, transitions, said } = feed('uDDDDd');
    assert.deepEqual([state.status, said], ['down', 'firing@6']);
    assert.deepEqual(transitions[0]?.observedAt, [2 * INTERVAL, 3 * INTERVAL, 4 * INTERVAL]);
    assert.equal(feed('uDDDDdddd').said, 'firing@6');
  });

  test('hides a failure that ended within it', () => {
    assert.equal(feed('uDDDUUUu').said, '');
    assert.deepEqual(feed('uDDDUUU').state.withheld, null);
  });

  test('hides a failure that ends after it before it was seen again', () => {
    const { state, said } = feed('uDDDuuuu');
    assert.deepEqual([state.status, state.withheld, said], ['up', null, '']);
  });

  test('that ends within the count returns the transition at its third observation', () => {
    assert.equal(feed('uDDd').said, 'firing@4');
  });

  test('withholds the recovery of a target that was down before', () => {
    assert.equal(feed('udddUUUUu').said, 'firing@4 resolved@9');
    assert.equal(feed('udddUUUDDDd').said, 'firing@4');
  });

  test('keeps what it withholds over missed observations', () => {
    assert.equal(feed('uDDD--d').said, 'firing@7');
  });
});

test('Any readings keep the rules: three in a row for a transition, firing and resolved in turns', () => {
  let seed = 11;
  const random = (below: number): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % below;
  const letters = 'uuuddd-UD';
  for (let round = 0; round < 400; round += 1) {
    const readings = Array.from({ length: 60 }, () => letters[random(letters.length)]).join('');
    const { state, transitions } = feed(readings);
    assert.ok(state.disagreeing.length < 3);
    for (const [index, { status, observedAt, after }] of transitions.entries()) {
      assert.equal(observedAt.length, 3);
      assert.notEqual(transitions[index - 1]?.status, status, readings);
      assert.doesNotMatch(readings[after - 1] ?? '', /[A-Z-]/, readings);
      const seen = observedAt.map((at) => readings[at / INTERVAL - 1]?.toLowerCase()).join('');
      assert.equal(seen, status === 'firing' ? 'ddd' : 'uuu', readings);
    }
  }
});
