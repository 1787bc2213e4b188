import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { listenHttp } from '../../../test/support/network/listener.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { loopbackProbes } from '../../../test/support/network/probing.ts';
import { Limiter } from '../../lib/flow/limiter.ts';
import type { ProbeOrder } from './services.ts';
import { Prober } from './prober.ts';

/** Of the process; a quarter of them is for users, and two thirds of that for one holder alone. */
const PROBES = 36;
const ALONE = 6;

/** A prober with few places, whose probes have no time-out; a target that accepts and says nothing, and one more. */
async function fixture(t: TestContext) {
  const held = Promise.withResolvers<void>();
  const silent = await listenHttp(t, () => {
    if (silent.connections === ALONE) held.resolve();
  });
  const answering = await listenHttp(t, (_request, response) => response.end());
  const running = new Limiter({ running: PROBES, waiting: Number.POSITIVE_INFINITY });
  const deps = { ...loopbackProbes({ clock: new HandClock() }), running };
  const clock = new HandClock();
  return { held: held.promise, silent, answering, clock, prober: new Prober(clock, () => Promise.resolve(deps)) };
}

const order = (key: string, { port }: { readonly port: number }): ProbeOrder => ({
  key,
  kind: 'http',
  options: { expect: 0, method: 'GET', expectBody: null },
  open: () => `http://127.0.0.1:${port}/`,
});

/** Whether the probes have not ended yet. */
function unended(probes: Promise<unknown>): () => boolean {
  let hasEnded = false;
  const note = (): void => void (hasEnded = true);
  probes.then(note, note);
  return () => !hasEnded;
}

const unreadable = (): never => {
  throw new Error('unreadable');
};

const staying = new AbortController().signal;

describe('places for probes on request', () => {
  test('T88: a token whose probes are all held leaves places for those of another', async (t) => {
    const { held, silent, answering, prober } = await fixture(t);
    const end = new AbortController();
    const orders = Array.from({ length: 100 }, (_, at) => order(`hog/${at}`, silent));
    const hog = prober.probeAll('ana', orders, end.signal);
    const isHeld = unended(hog);
    await held;
    const [one] = await prober.probeAll('bo', [order('one', answering)], staying);
    assert.equal(one?.detail, 'ok');
    assert.ok(isHeld());
    assert.equal(silent.connections, ALONE);
    end.abort();
    await assert.rejects(hog, { code: 'unavailable' });
  });

  test('T88: a probe that waits for one token begins at the turn of another that asks for it too', async (t) => {
    const { held, silent, answering, prober } = await fixture(t);
    const end = new AbortController();
    const orders = Array.from({ length: 100 }, (_, at) => order(`hog/${at}`, silent));
    const hog = prober.probeAll('ana', [...orders, order('one', answering)], end.signal);
    const isHeld = unended(hog);
    await held;
    const [one] = await prober.probeAll('bo', [order('one', answering)], staying);
    assert.equal(one?.detail, 'ok');
    assert.ok(isHeld());
    assert.equal(answering.connections, 1);
    end.abort();
    await assert.rejects(hog, { code: 'unavailable' });
  });

  test('T88: a token with 1,000 waiting probes is refused more of them until their client has gone', async (t) => {
    const { held, silent, answering, clock, prober } = await fixture(t);
    const end = new AbortController();
    const orders = Array.from({ length: ALONE + 1_000 }, (_, at) => order(`hog/${at}`, silent));
    const hog = prober.probeAll('ana', orders, end.signal);
    await held;
    clock.advance(60_000);
    // What runs is shared, and keeps its place when the client that began it has gone.
    const ending = new AbortController();
    const sharing = prober.probeAll('ana', orders.slice(0, ALONE), ending.signal);
    const one = [order('one', answering)];
    await assert.rejects(prober.probeAll('ana', one, staying), {
      code: 'unavailable',
      message: 'Many probes of this token are waiting. Nothing was probed; retry later.',
    });
    end.abort();
    await assert.rejects(hog, { code: 'unavailable' });
    const other = prober.probeAll('ana', one, ending.signal);
    assert.equal((await prober.probeAll('bo', one, staying))[0]?.detail, 'ok');
    assert.equal((await other)[0]?.detail, 'ok');
    assert.equal(silent.connections, ALONE);
    ending.abort();
    await assert.rejects(sharing, { code: 'unavailable' });
  });

  test('a probe that cannot begin gives its place back', async (t) => {
    const { answering, prober } = await fixture(t);
    for (let i = 0; i < 2 * ALONE; i += 1)
      await assert.rejects(
        prober.probeAll('ana', [{ ...order('bad', answering), open: unreadable }], staying),
        /unreadable/,
      );
    const [one] = await prober.probeAll('ana', [order('one', answering)], staying);
    assert.equal(one?.detail, 'ok');
  });
});
