import type { Patience } from '../../operations/operation.ts';
import type { Exchange } from './sender.ts';

/** Probes of the operating system on a connection on which nothing moves: a client that is gone is noticed. */
const KEEP_ALIVE_PROBE_MS = 5_000;

/** The requests whose answer waits for something after their write. */
export class Waits {
  readonly #open = new Set<AbortController>();
  #closing = false;

  get open(): number {
    return this.#open.size;
  }

  /** Ends all of them, and those that come later at once: each is answered with what is known by then. */
  endAll(): void {
    this.#closing = true;
    for (const wait of this.#open) wait.abort();
  }

  /** Runs `task` with a signal that aborts when the client goes or the listener closes. */
  async during<T>({ request, response }: Exchange, task: (patience: Patience) => Promise<T>): Promise<T> {
    const end = new AbortController();
    const close = (): void => end.abort();
    const gone = (): boolean => response.destroyed;
    this.#open.add(end);
    response.once('close', close);
    request.socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    // It may have gone before anybody listened.
    if (this.#closing || gone()) close();
    try {
      return await task({ signal: end.signal, gone });
    } finally {
      response.off('close', close);
      this.#open.delete(end);
    }
  }
}
