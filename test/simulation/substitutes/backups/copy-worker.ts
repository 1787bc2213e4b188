import { EventEmitter } from 'node:events';
import type { WorkerOptions } from 'node:worker_threads';
import { copyAndCheck, type CopyOrder } from '../../../../src/store/engine/sqlite/copy-and-check.ts';
import { theWorld } from '../../world/current.ts';

/** The thread that copies a store, in the thread of the daemon. */
class CopyWorker extends EventEmitter {
  #isStopped = false;

  constructor(order: CopyOrder) {
    super();
    theWorld().add('thread', 0, () => void this.#run(order));
  }

  postMessage(): void {
    this.#isStopped = true;
  }

  terminate(): Promise<number> {
    this.#isStopped = true;
    return Promise.resolve(0);
  }

  async #run(order: CopyOrder): Promise<void> {
    let tell: () => void;
    try {
      const facts = await copyAndCheck(order, () => this.#isStopped);
      tell = () => this.emit('message', facts);
    } catch (error) {
      tell = () => this.emit('error', error);
    }
    theWorld().add('thread', 0, tell);
  }
}

/** With the options of a thread. */
export function copyWorker(options: WorkerOptions | undefined): CopyWorker {
  return new CopyWorker(options?.workerData as CopyOrder);
}
