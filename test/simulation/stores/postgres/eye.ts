import { join } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { EyeOrder, EyeReply } from './eye-thread.ts';

/** Longer than any question to a server takes. */
const ANSWER_MAX_MS = 60_000;

type Row = Readonly<Record<string, unknown>>;

/** Asks servers while this thread waits, so that rules see the rows of one moment. */
export class Eye {
  readonly #turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #port;
  readonly #worker: Worker;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(join(import.meta.dirname, 'eye-thread.ts'), {
      workerData: { port: port2, turns: this.#turns },
      transferList: [port2],
    });
    this.#worker.unref();
  }

  rows(url: string, sql: string, values: readonly unknown[] = []): readonly Row[] {
    return this.#ask({ url, sql, values });
  }

  /** Closes the connection to this database. */
  leave(url: string): void {
    this.#ask({ url, sql: null, values: [] });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(order: EyeOrder): readonly Row[] {
    const turn = Atomics.load(this.#turns, 0);
    this.#port.postMessage(order);
    // The notification of the answer before it may come only now.
    while (Atomics.load(this.#turns, 0) === turn)
      if (Atomics.wait(this.#turns, 0, turn, ANSWER_MAX_MS) === 'timed-out')
        throw new Error('the server does not answer');
    const reply = receiveMessageOnPort(this.#port)?.message as EyeReply;
    if ('error' in reply) throw new Error(`${reply.error}: ${order.sql}`);
    return reply.rows;
  }
}
