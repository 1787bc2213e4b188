import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { watchCommits } from './commit-watch.ts';
import { type Loop, type Pass, startLoop } from './loop.ts';

/** Time passes only when the test says so. */
function stoppedClock(): { clock: Clock; ring: () => void; waits: () => number[] } {
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    ...systemClock,
    after(ms, fire) {
      timers.set(fire, ms);
      return () => void timers.delete(fire);
    },
  };
  const ring = (): void => {
    const due = [...timers.keys()];
    timers.clear();
    for (const fire of due) fire();
  };
  return { clock, ring, waits: () => [...timers.values()] };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a loop', () => {
  test('makes a pass at once, few for any number of wake-ups, then one when the time is up', async () => {
    const { clock, ring, waits } = stoppedClock();
    let passes = 0;
    const loop = startLoop({
      name: 'x',
      clock,
      everyMs: 70,
      once: async () => void (passes += 1),
      onError: assert.fail,
    });
    await turn();
    assert.equal(passes, 1);
    for (let n = 0; n < 50; n += 1) loop.wake();
    await turn();
    const woken = passes;
    assert.ok(woken >= 2 && woken <= 3, `${woken} passes`);
    assert.deepEqual(waits(), [70]);
    ring();
    await turn();
    assert.equal(passes, woken + 1);
    await loop.stop();
    assert.deepEqual(waits(), []);
  });

  test('reports no fault for a pass that its stop ended, and any other fault of that pass', async () => {
    const { clock } = stoppedClock();
    for (const isFault of [false, true]) {
      const begun = Promise.withResolvers<void>();
      const faults: unknown[] = [];
      const once = async (signal: AbortSignal): Promise<void> => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        if (isFault) throw new Error('the disk is full');
        signal.throwIfAborted();
      };
      const onError = (_name: string, error: unknown): void => void faults.push(error);
      const loop = startLoop({ name: 'x', clock, everyMs: 70, once, onError });
      await begun.promise;
      await loop.stop();
      assert.deepEqual(faults.map(String), isFault ? ['Error: the disk is full'] : []);
    }
  });

  test('makes another pass for a wake-up that came during one', async () => {
    const { clock } = stoppedClock();
    let passes = 0;
    const first = Promise.withResolvers<void>();
    const once = (): Promise<void> => ((passes += 1) === 1 ? first.promise : Promise.resolve());
    const loop = startLoop({ name: 'x', clock, everyMs: 70, once, onError: assert.fail });
    loop.wake();
    first.resolve();
    await turn();
    assert.equal(passes, 2);
    await loop.stop();
  });

  test('continues after a failed pass, and reports it', async () => {
    const { clock } = stoppedClock();
    const failures: unknown[] = [];
    let passes = 0;
    const once = async (): Promise<void> => {
      passes += 1;
      if (passes === 1) throw new Error('no luck');
    };
    const loop = startLoop({
      name: 'x',
      clock,
      everyMs: 70,
      once,
      onError: (name, error) => failures.push([name, String(error)]),
    });
    await turn();
    loop.wake();
    await turn();
    assert.deepEqual([passes, failures], [2, [['x', 'Error: no luck']]]);
    await loop.stop();
  });

  test('stops only when the pass under way has ended, tells that pass, and may be stopped twice', async () => {
    const { clock } = stoppedClock();
    const pass = Promise.withResolvers<void>();
    let aborted = false;
    const once = (signal: AbortSignal): Promise<void> => {
      signal.addEventListener('abort', () => (aborted = true));
      return pass.promise;
    };
    const loop = startLoop({ name: 'x', clock, everyMs: 70, once, onError: assert.fail });
    let stopped = 0;
    const stops = [loop.stop(), loop.stop()].map((each) => each.then(() => (stopped += 1)));
    await turn();
    assert.deepEqual([aborted, stopped], [true, 0]);
    pass.resolve();
    await Promise.all(stops);
    assert.equal(stopped, 2);
  });
});

/** A clock that the test moves, and a loop on it that is due each second, with the watch of commits. */
async function scene(t: TestContext, pass: (now: number) => Pass | Error | void | Promise<void> = () => undefined) {
  let now = 0;
  const timers = new Map<() => void, number>();
  const on = { version: 'a' as string | null, ahead: 0, passes: 0 };
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    now: () => now + on.ahead,
    after(ms, fire) {
      timers.set(fire, now + ms);
      return () => void timers.delete(fire);
    },
  };
  const once = async (): Promise<Pass | void> => {
    on.passes += 1;
    const result = await pass(now);
    if (result instanceof Error) throw result;
    return result;
  };
  const restsWithoutCommits = true;
  const loop = startLoop({ name: 'x', clock, everyMs: 1_000, restsWithoutCommits, once, onError: () => undefined });
  const resting: Loop[] = [loop];
  const watch = watchCommits(() => on.version, resting, { clock, onError: assert.fail });
  t.after(() => Promise.all([loop.stop(), watch.stop()]));
  await turn();
  /** The number of passes in `ms`. */
  const passesIn = async (ms: number): Promise<number> => {
    const before = on.passes;
    const end = now + ms;
    for (;;) {
      const next = Math.min(...timers.values());
      if (next > end) break;
      now = Math.max(now, next);
      for (const [fire, at] of timers) if (at <= now && timers.delete(fire)) fire();
      await turn();
    }
    now = end;
    return on.passes - before;
  };
  return { on, loop, passesIn };
}

describe('a loop that rests without commits', () => {
  test('makes each pass for 10 s after a commit, then one each 30 s', async (t) => {
    const { on, passesIn } = await scene(t);
    assert.equal(await passesIn(10_000), 10);
    assert.equal(await passesIn(60_000), 2);
    on.version = 'b';
    assert.equal(await passesIn(10_000), 10);
    assert.equal(await passesIn(60_000), 2);
  });

  test('makes a pass at once when it is woken', async (t) => {
    const { on, loop, passesIn } = await scene(t);
    await passesIn(60_000);
    const before = on.passes;
    loop.wake();
    await turn();
    assert.equal(on.passes, before + 1);
  });

  test('makes each pass for 10 s after the time of day was set, whichever way', async (t) => {
    const { on, passesIn } = await scene(t);
    await passesIn(60_000);
    for (const ahead of [3_600_000, -100]) {
      on.ahead = ahead;
      assert.equal(await passesIn(10_000), 10);
      assert.equal(await passesIn(60_000), 2);
    }
  });

  test('makes a pass when the time comes that a pass answered', async (t) => {
    const { passesIn } = await scene(t, (now) => (now < 25_300 ? { dueMs: 25_300 - now } : {}));
    await passesIn(15_000);
    assert.equal(await passesIn(10_299), 0);
    assert.equal(await passesIn(1), 1);
  });

  test('makes a pass after a long one, during which there was a commit', async (t) => {
    let over = Promise.withResolvers<void>();
    over.resolve();
    const { on, loop, passesIn } = await scene(t, () => over.promise);
    await passesIn(60_000);
    over = Promise.withResolvers();
    loop.wake();
    await turn();
    on.version = 'b';
    assert.equal(await passesIn(15_000), 0);
    const before = on.passes;
    over.resolve();
    await turn();
    assert.equal(on.passes, before + 1);
  });

  for (const [why, pass, version] of [
    ['a pass has failed', () => new Error('the disk is full'), 'a'],
    ['a pass named its next time', () => ({ dueMs: 1_000 }), 'a'],
    ['the store has no cheap counter', () => undefined, null],
  ] as const)
    test(`does not rest where ${why}`, async (t) => {
      const { on, passesIn } = await scene(t, pass);
      on.version = version;
      assert.equal(await passesIn(60_000), 60);
    });
});

test('loops that began at different times are due at the same moments', async () => {
  let now = 300;
  const { clock, waits } = stoppedClock();
  const every = { ...clock, monotonic: () => now };
  const loops = [1_000, 2_000, 70].map((everyMs, n) => {
    now += n * 40;
    return startLoop({ name: 'x', clock: every, everyMs, once: async () => undefined, onError: assert.fail });
  });
  await turn();
  // At 420 ms: to 1,000, to 2,000, and the shortest as it is.
  assert.deepEqual(waits(), [580, 1_580, 70]);
  await Promise.all(loops.map((loop) => loop.stop()));
});
