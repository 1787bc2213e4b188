import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { connects, createCanary } from './canary.ts';

describe('The canary', () => {
  test('answers with a connection that was begun after the question, which all that wait share', async () => {
    const begun: PromiseWithResolvers<boolean>[] = [];
    const canary = createCanary(new HandClock(), () => {
      const each = Promise.withResolvers<boolean>();
      begun.push(each);
      return each.promise;
    });
    const first = canary.isReachable();
    const later = Array.from({ length: 1_000 }, () => canary.isReachable());
    assert.equal(begun.length, 1);
    begun[0]?.resolve(true);
    assert.equal(await first, true);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(begun.length, 2);
    begun[1]?.resolve(false);
    assert.deepEqual(new Set(await Promise.all(later)), new Set([false]));
  });

  test('is not tried again for a second after it was unreachable', async () => {
    const clock = new HandClock();
    let tries = 0;
    const canary = createCanary(clock, async () => ((tries += 1), false));
    assert.deepEqual([await canary.isReachable(), await canary.isReachable(), tries], [false, false, 1]);
    clock.advance(1_001);
    assert.deepEqual([await canary.isReachable(), tries], [false, 2]);
  });

  test('is reachable where something accepts connections, and not where nothing does', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    assert.equal(await connects(systemClock, `127.0.0.1:${port}`), true);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(await connects(systemClock, `127.0.0.1:${port}`), false);
    assert.equal(await connects(systemClock, `[::1]:${port}`), false);
  });

  test('is unreachable where no answer comes', async () => {
    const clock = new HandClock();
    // An address of documentation: nothing answers, or there is no route.
    const answer = connects(clock, '192.0.2.1:9');
    clock.advance(3_000);
    assert.equal(await answer, false);
    assert.equal(clock.waiting, 0);
  });
});
