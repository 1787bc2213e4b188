import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { FairPlaces } from './fair-places.ts';
import { inNameOf } from './in-name-of.ts';

const LATE_MS = 1_000;
const late = (): Error => new Error('late');

/** The holders that have had a place, in order, and what gives the places back that are taken. */
class Entered {
  readonly holders: string[] = [];
  readonly #places: { readonly holder: string; readonly leave: () => void }[] = [];

  add(holder: string, leave: () => void): void {
    this.holders.push(holder);
    this.#places.push({ holder, leave });
  }

  /** Gives back the first place of a holder. */
  leave(holder: string): void {
    const at = this.#places.findIndex((place) => place.holder === holder);
    this.#places.splice(at, 1)[0]?.leave();
  }

  async leaveEach(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      await Promise.resolve();
      await Promise.resolve();
      this.#places.shift()?.leave();
    }
  }
}

/** Enters in the name of a holder and notes it when it has a place. */
function enter(places: FairPlaces, clock: HandClock, holder: string, entered: Entered): Promise<void> {
  return inNameOf({ holder, next: async () => {} }, async () => {
    entered.add(holder, await places.enter(clock, LATE_MS, late));
  });
}

/** Requests places, and notes who has one. */
function requester(places: FairPlaces) {
  const entered = new Entered();
  const request = (holder: string): (() => void) => places.request(holder, (leave) => entered.add(holder, leave));
  return { entered, request };
}

const isFree = (places: FairPlaces, clock: HandClock): boolean =>
  typeof places.enter(clock, LATE_MS, late) === 'function';

describe('fair places', () => {
  it('T87: a holder that comes later waits for one task of each other holder, not for all', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), new Entered()];
    const all = ['ana', 'ana', 'ana', 'ana', 'bo', 'eve', 'bo'].map((each) => enter(places, clock, each, entered));
    await entered.leaveEach(all.length);
    await Promise.all(all);
    assert.deepEqual(entered.holders, ['ana', 'ana', 'bo', 'eve', 'ana', 'bo', 'ana']);
    assert.ok(isFree(places, clock));
  });

  it('what the program does by itself is one holder more', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), new Entered()];
    const first = places.enter(clock, LATE_MS, late);
    assert.ok(typeof first === 'function');
    entered.add('itself', first);
    const anas = [enter(places, clock, 'ana', entered), enter(places, clock, 'ana', entered)];
    const own = Promise.resolve(places.enter(clock, LATE_MS, late)).then((leave) => entered.add('itself', leave));
    await entered.leaveEach(3);
    await Promise.all([...anas, own]);
    assert.deepEqual(entered.holders, ['itself', 'ana', 'itself', 'ana']);
  });

  it('one that waits too long is refused, and its place is that of the next', async () => {
    const [places, clock, entered] = [new FairPlaces(1), new HandClock(0), new Entered()];
    await enter(places, clock, 'ana', entered);
    const refused = assert.rejects(enter(places, clock, 'ana', entered), /late/);
    clock.advance(1);
    const bo = enter(places, clock, 'bo', entered);
    clock.advance(LATE_MS - 1);
    await refused;
    await entered.leaveEach(2);
    await bo;
    assert.deepEqual(entered.holders, ['ana', 'bo']);
    assert.ok(isFree(places, clock));
  });

  it('T88: a holder alone leaves some places free, and each that has none finds one', () => {
    const places = new FairPlaces(9, 2);
    const { entered, request } = requester(places);
    const drops = Array.from({ length: 20 }, () => request('ana'));
    assert.deepEqual([entered.holders.length, places.waiting('ana')], [6, 14]);
    for (let i = 0; i < 20; i += 1) request('bo');
    request('eve');
    assert.deepEqual(entered.holders.slice(6), ['bo', 'bo', 'eve']);
    entered.leave('ana');
    assert.equal(entered.holders.length, 9, 'the place of ana is kept free, although ana and bo wait');
    request('dan');
    for (let i = 0; i < 3; i += 1) entered.leave('ana');
    assert.deepEqual(entered.holders.slice(9), ['dan', 'ana', 'bo']);
    for (const drop of drops) drop();
    assert.equal(places.waiting('ana'), 0);
    for (const holder of ['ana', 'ana', 'ana', 'eve', 'dan']) entered.leave(holder);
    assert.deepEqual(entered.holders.slice(12), ['bo', 'bo', 'bo']);
  });

  it('T88: when a place is given to another holder, the one that had it may have one of those that are free', () => {
    const { entered, request } = requester(new FairPlaces(10, 2));
    for (const holder of ['ana', 'ana', 'ana', 'ana', 'bo', 'bo', 'bo', 'bo', 'bo', 'ana']) request(holder);
    assert.equal(entered.holders.length, 8);
    entered.leave('ana');
    assert.deepEqual(entered.holders.slice(8), ['bo', 'ana']);
  });
});
