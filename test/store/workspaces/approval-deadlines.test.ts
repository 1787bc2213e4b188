/** Which clock the deadline of an approval follows, to the millisecond. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { settle } from '../../../src/store/approvals/approvals.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { ENGINES } from '../engine-fixture.ts';
import { HOUR_MS, database, ask, sweep, codeOf, statesOf } from '../../support/fixtures/decider.ts';

/** A clock that a test sets: only what it tells is made up, its pauses are real. */
function setClock(at: { nowMs: number }): Clock {
  return { ...systemClock, now: () => at.nowMs };
}

function shifted(byMs: number): Clock {
  return { ...systemClock, now: () => Date.now() + byMs };
}

test('T30: On SQLite a decision is taken until the millisecond before the deadline, then an expiry', async (t) => {
  const at = { nowMs: Date.now() };
  const store = await (await database(t, ENGINES[0]!)).open({ clock: setClock(at) });
  const settled = async (deltaMs: number, to: 'approved' | 'expired'): Promise<boolean> => {
    at.nowMs = Date.now();
    const { approval } = await gate(store, { planned: false });
    at.nowMs = approval.expires_at + deltaMs;
    const [by, via] = to === 'expired' ? [null, null] : ['ana', 'api'];
    const settlement = { to, by, via, reason: null, owner: null };
    return (await store.write((tx) => settle(tx, approval.id, settlement))) !== undefined;
  };
  assert.deepEqual(
    [await settled(-1, 'approved'), await settled(0, 'approved'), await settled(1, 'approved')],
    [true, false, false],
  );
  assert.deepEqual(
    [await settled(-1, 'expired'), await settled(0, 'expired'), await settled(1, 'expired')],
    [false, true, true],
  );
});

test('F10: On PostgreSQL a process whose clock is off keeps deadlines by the clock of the database', async (t) => {
  const made = await database(t, ENGINES[1]!);
  const right = await made.open();
  for (const offMs of [-2 * HOUR_MS, 2 * HOUR_MS]) {
    const clock = shifted(offMs);
    const store = await made.open({ clock });
    const { approval } = await gate(store, { planned: false, ttlMs: HOUR_MS });
    const databaseMs = await right.dialect.clock(right.db, 0);
    assert.ok(Math.abs(approval.expires_at - HOUR_MS - databaseMs) < 60_000, 'the deadline is by the database');
    const open = await gate(right, { planned: false, ttlMs: HOUR_MS });
    await sweep(store, clock);
    assert.deepEqual(await statesOf(right, open), ['pending', 'awaiting_approval']);
    await ask(store, open, 'approve');
    const over = await gate(right, { planned: false, ttlMs: -1 });
    assert.equal(await codeOf(ask(store, over, 'approve')), 'conflict');
    await sweep(store, clock);
    assert.deepEqual(await statesOf(right, over), ['expired', 'cancelled']);
  }
});
