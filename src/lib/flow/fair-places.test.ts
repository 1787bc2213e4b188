import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { FairPlaces } from './fair-places.ts';
import { inNameOf } from './in-name-of.ts';

const LATE_MS = 1_000;
const late = (): Error => new Error('late');

/** Enters in the name of a holder and notes it when it has a place. */
function enter(places: FairPlaces, clock: HandClock, holder: string, entered: string[]): Promise<void> {
  return inNameOf({ holder, next: async () => {} }, async () => {
    await places.enter(clock, LATE_MS, late);
    entered.push(holder);
  });
}

async function leaveEach(places: FairPlaces, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    places.leave();
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe('fair places', () => {
  it('T87: a holder that comes later waits for one task of each other holder, not for all', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), [] as string[]];
    const all = ['ana', 'ana', 'ana', 'ana', 'bo', 'eve', 'bo'].map((each) => enter(places, clock, each, entered));
    await leaveEach(places, all.length);
    await Promise.all(all);
    assert.deepEqual(entered, ['ana', 'ana', 'bo', 'eve', 'ana', 'bo', 'ana']);
    assert.equal(places.enter(clock, LATE_MS, late), undefined);
  });

  it('what the program does by itself is one holder more', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), [] as string[]];
    assert.equal(places.enter(clock, LATE_MS, late), undefined);
    const anas = [enter(places, clock, 'ana', entered), enter(places, clock, 'ana', entered)];
    const own = places.enter(clock, LATE_MS, late)?.then(() => entered.push('itself'));
    await leaveEach(places, 3);
    await Promise.all([...anas, own]);
    assert.deepEqual(entered, ['ana', 'itself', 'ana']);
  });

  it('one that waits too long is refused, and its place is that of the next', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), [] as string[]];
    await enter(places, clock, 'ana', entered);
    const refused = assert.rejects(enter(places, clock, 'ana', entered), /late/);
    clock.advance(1);
    const bo = enter(places, clock, 'bo', entered);
    clock.advance(LATE_MS - 1);
    await refused;
    await leaveEach(places, 2);
    await bo;
    assert.deepEqual(entered, ['ana', 'bo']);
    assert.equal(places.enter(clock, LATE_MS, late), undefined);
  });
});
