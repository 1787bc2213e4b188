import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { FairTurns } from '../../lib/flow/fair-turns.ts';
import { ClientGone } from './body.ts';
import { TURN_LIMITS } from './limits.ts';
import { Visit } from './visit.ts';

test('T87: the next part of a request is not begun when its client has gone', async () => {
  const response = { destroyed: false };
  const visit = new Visit(new FairTurns(new HandClock(0), TURN_LIMITS), 'x', response);
  await visit.start('ana');
  await visit.next();
  const next = visit.next();
  response.destroyed = true;
  await assert.rejects(next, ClientGone);
  await assert.rejects(visit.next(), ClientGone);
});

test('T87: a request that waits for a place is not begun when its client has gone, and gives the place back', async () => {
  const turns = new FairTurns(new HandClock(0), { ...TURN_LIMITS, placesEach: 1 });
  const response = { destroyed: false };
  const [first, gone, last] = [{ destroyed: false }, response, { destroyed: false }].map(
    (each) => new Visit(turns, 'x', each),
  );
  assert.ok(first !== undefined && gone !== undefined && last !== undefined);
  await first.start('ana');
  const waits = gone.start('ana');
  const waitsToo = last.start('ana');
  response.destroyed = true;
  first.leave();
  await assert.rejects(waits ?? Promise.resolve(), ClientGone);
  gone.leave();
  await waitsToo;
  last.leave();
  assert.equal(turns.tasks, 0);
});
