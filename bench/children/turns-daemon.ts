/** A whole daemon that also measures the turns of its event loop: how much processor time the longest one took. */
import type { Running } from '../../src/app/run/ready.ts';
import { orders, say } from '../kit/child.ts';
import { startInside, tokenOf } from '../kit/inside/daemon.ts';
import type { TurnsOrder } from './orders.ts';

/** Looks once in each turn of the loop, which does not sleep for as long. */
class Turns {
  #longestUs = 0;
  #isOn = true;

  constructor() {
    let before = process.threadCpuUsage();
    const look = (): void => {
      const now = process.threadCpuUsage();
      this.#longestUs = Math.max(this.#longestUs, now.user + now.system - before.user - before.system);
      before = now;
      if (this.#isOn) setImmediate(look);
    };
    setImmediate(look);
  }

  /** Answers the longest turn, in milliseconds of the processor. */
  end(): number {
    this.#isOn = false;
    return this.#longestUs / 1_000;
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
