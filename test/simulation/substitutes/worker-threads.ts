import { EventEmitter } from 'node:events';
import { Worker as RealWorker, type WorkerOptions } from 'node:worker_threads';
import type { Followed, LeaseOrder } from '../../../src/daemon/core/lease/lease-order.ts';
import { Renewals } from '../../../src/daemon/core/lease/renewals.ts';
import { renewEveryMs } from '../../../src/daemon/core/lease/trust.ts';
import { pause } from '../../../src/lib/clock.ts';
import { running, theWorld } from '../world/current.ts';
import { copyWorker } from './backups/copy-worker.ts';

export * from 'node:worker_threads';

/** The thread that renews a lease, in the thread of the daemon: the world has its turns, and those of no other. */
class LeaseWorker extends EventEmitter {
  readonly #renewals: Renewals;
  readonly #ending = new AbortController();

  constructor(order: LeaseOrder) {
    super();
    this.#renewals = new Renewals(order, theWorld().clock(), (news) => {
      if (!this.#ending.signal.aborted) theWorld().add('lease', 0, () => this.emit('message', news));
    });
    void this.#renewAll(renewEveryMs(order.leaseMs));
  }

  postMessage(message: Followed): void {
    theWorld().add('lease', 0, () => this.#renewals.follow(message));
  }

  unref(): this {
    return this;
  }

  terminate(): Promise<number> {
    this.#ending.abort();
    return Promise.resolve(0);
  }

  async #renewAll(everyMs: number): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#renewals.renew();
      await pause(theWorld().clock(), everyMs, this.#ending.signal);
    }
  }
}

/** Of the program at this address; a daemon has no others than these. */
export const Worker = new Proxy(RealWorker, {
  construct(target, [program, options]: [string | URL, WorkerOptions | undefined]) {
    if (running() === null) return new target(program, options);
    if (String(program).includes('/lease/lease-thread.')) return new LeaseWorker(options?.workerData as LeaseOrder);
    if (String(program).includes('/sqlite/copy-thread.')) return copyWorker(options);
    throw new Error(`${String(program)} is not simulated`);
  },
});
