import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HELD_ENDED_MS, HELD_LOGGED_MS, HeldLoop } from './held-loop.ts';

const EVERY_MS = 2_500;

describe('T87: an event loop without a turn', () => {
  test('T87: is logged once after 30 s, and ended after 5 minutes', () => {
    const held = new HeldLoop({ turns: 7n, now: 0, everyMs: EVERY_MS });
    const found: [to: string, atMs: number, heldMs: number][] = [];
    for (let now = EVERY_MS; now <= HELD_ENDED_MS; now += EVERY_MS) {
      const look = held.look(7n, now);
      if (look !== null) found.push([look.to, now, look.heldMs]);
    }
    assert.deepEqual(found, [
      ['log', HELD_LOGGED_MS, HELD_LOGGED_MS],
      ['end', HELD_ENDED_MS, HELD_ENDED_MS],
    ]);
  });

  test('T87: counts from its last turn, and is logged again after the next', () => {
    const held = new HeldLoop({ turns: 0n, now: 0, everyMs: EVERY_MS });
    const logged: number[] = [];
    for (let now = EVERY_MS; now <= 120_000; now += EVERY_MS)
      if (held.look(now < 60_000 ? 0n : 1n, now)?.to === 'log') logged.push(now);
    assert.deepEqual(logged, [30_000, 90_000]);
  });

  test('T87: does not count the time in which nothing ran, as in a suspended machine', () => {
    const held = new HeldLoop({ turns: 0n, now: 0, everyMs: EVERY_MS });
    assert.equal(held.look(0n, 8 * 3_600_000), null);
    assert.equal(held.look(0n, 8 * 3_600_000 + EVERY_MS), null);
  });
});
