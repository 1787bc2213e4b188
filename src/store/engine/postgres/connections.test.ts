import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import { Connections } from './connections.ts';
import { ConnectFault, Dialer } from './dial.ts';

const ADDRESS = 'postgres://db.test/x';
const OPTIONS = { max: 1, waitMs: 5_000, session: {} };
const CLOSED = 'the store is closed';
/** Far more than a test needs, and less than it may hang. */
const TEST_LIMIT = { timeout: 10_000 };

/** Its time does not move: a caller that waits for a limit never gets an answer. */
const clock = new HandClock();

test('Connections that have ended refuse a caller at once', TEST_LIMIT, async () => {
  const connections = new Connections(new Dialer(ADDRESS, OPTIONS.waitMs), clock, OPTIONS);
  await connections.end();
  await assert.rejects(connections.take(), new ConnectFault(CLOSED));
});

test(
  'Callers that wait when the connections end are refused when the last one is given back',
  TEST_LIMIT,
  async (t) => {
    const dialer = new Dialer(ADDRESS, OPTIONS.waitMs);
    const dialling = Promise.withResolvers<never>();
    const started = Promise.withResolvers<void>();
    t.mock.method(dialer, 'connect', () => {
      started.resolve();
      return dialling.promise;
    });
    const connections = new Connections(dialer, clock, OPTIONS);
    const taken = Promise.allSettled([connections.take(), connections.take(), connections.take()]);
    await started.promise;
    const ended = connections.end();
    dialling.reject(new ConnectFault('no answer in time'));
    const reasons = (await taken).map((each) => (each.status === 'rejected' ? (each.reason as Error).message : 'lent'));
    assert.deepEqual(reasons, ['no answer in time', CLOSED, CLOSED]);
    await ended;
  },
);
