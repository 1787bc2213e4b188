/** A whole daemon that also measures the turns of its event loop: how much processor time the longest one took. */
import type { Running } from '../../src/app/run/ready.ts';
import { openSystemCalls } from '../../src/runners/sandbox/kernel/system-call.ts';
import { orders, say } from '../kit/child.ts';
import { startInside, tokenOf } from '../kit/inside/daemon.ts';
import type { TurnsOrder } from './orders.ts';

/** clock_gettime(2) */
const CALL = process.arch === 'arm64' ? 113 : 228;
const CLOCK_THREAD_CPUTIME_ID = 3;

/**
 * The processor time of this thread, in milliseconds. What Node answers (getrusage) is brought up to date once in a
 * tick of the kernel, 4 ms, and a turn that a tick comes into would be charged with all since the last.
 */
function threadClock(): () => number {
  const system = openSystemCalls();
  const time = Buffer.alloc(16);
  return () => {
    system.call(CALL, CLOCK_THREAD_CPUTIME_ID, time);
    return Number(time.readBigInt64LE(0)) * 1_000 + Number(time.readBigInt64LE(8)) / 1e6;
  };
}

const usedMs = threadClock();

/** Looks once in each turn of the loop, which does not sleep for as long. */
class Turns {
  #longestMs = 0;
  #isOn = true;

  constructor() {
    let before = usedMs();
    const look = (): void => {
      const now = usedMs();
      this.#longestMs = Math.max(this.#longestMs, now - before);
      before = now;
      if (this.#isOn) setImmediate(look);
    };
    setImmediate(look);
  }

  /** Answers the longest turn, in milliseconds of the processor. */
  end(): number {
    this.#isOn = false;
    return this.#longestMs;
  }
}

let running: Running | null = null;
let turns: Turns | null = null;
for await (const order of orders<TurnsOrder>()) {
  if (order.do === 'start') {
    running = await startInside(order.dataDir);
    say({ url: running.webUrl, token: await tokenOf(running) });
  } else if (order.do === 'begin') {
    turns = new Turns();
    say({ begun: true });
  } else if (order.do === 'end') {
    say({ longestMs: turns?.end() ?? Number.NaN });
  } else {
    await running?.stop();
    say({ stopped: true });
  }
}
