/** A whole daemon that also measures the turns of its event loop: how much processor time the longest one took. */
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { localCaller } from '../../src/domain/access/caller.ts';
import type { Running } from '../../src/app/run/ready.ts';
import { startServe } from '../../src/app/serve.ts';
import { invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { orders, say } from '../kit/child.ts';
import { runsDirFor } from '../kit/scratch.ts';
import type { TurnsOrder } from './orders.ts';

async function token(running: Running): Promise<string> {
  const operation = OPERATIONS.find(({ id }) => id === 'token.create');
  if (operation === undefined) throw new Error('there is no operation token.create');
  const answer = await invoke(running.runtime, operation, {
    caller: localCaller('bench'),
    raw: { name: 'bench', scope: 'operator' },
  });
  return answer.shape === 'body' ? (answer.data as { token: string }).token : '';
}

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
    const flags = {
      'data-dir': order.dataDir,
      'web-addr': '127.0.0.1:0',
      'ingress-addr': '127.0.0.1:0',
      'runs-dir': runsDirFor(order.dataDir),
    };
    running = await startServe(readSettings(flags, {}));
    say({ url: running.webUrl, token: await token(running) });
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
