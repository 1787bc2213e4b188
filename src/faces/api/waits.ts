import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import { type Answer, type Invocation, invoke, type Runtime } from '../../operations/core/invoke.ts';
import { type ClientWait, mayWait, type Operation } from '../../operations/core/operation.ts';
import type { Calls } from '../http/calls.ts';
import type { Exchange } from '../http/sender.ts';
import { every, KEEP_ALIVE_PROBE_MS, type StreamParts } from './stream.ts';

type WaitParts = Pick<StreamParts, 'clock' | 'limits'> & { readonly authenticator: Pick<Authenticator, 'stillValid'> };

const ENDED = 'The token was revoked or has expired while the request waited.';

/** The requests whose answer waits for an event after their write. */
export class Waits implements Calls {
  readonly #parts: WaitParts;
  readonly #open = new Set<AbortController>();
  #closing = false;

  constructor(parts: WaitParts) {
    this.#parts = parts;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Ends all waits, and later ones at once: each is answered with the current state. */
  endAll(): void {
    this.#closing = true;
    for (const wait of this.#open) wait.abort();
  }

  call(exchange: Exchange, runtime: Runtime, operation: Operation, invocation: Invocation): Promise<Answer> {
    if (!mayWait(operation)) return invoke(runtime, operation, invocation);
    return this.#during(exchange, invocation.caller, (clientWait) =>
      invoke(runtime, operation, { ...invocation, clientWait }),
    );
  }

  /**
   * Runs `task` with a signal that aborts when the client disconnects, the listener closes or the credential ends.
   * Throws unauthenticated in the last case: the write remains, and the answer is not sent.
   */
  async #during<T>(
    { request, response, visit }: Exchange,
    caller: Caller,
    task: (clientWait: ClientWait) => Promise<T>,
  ): Promise<T> {
    const end = new AbortController();
    const close = (): void => end.abort();
    const gone = (): boolean => response.destroyed;
    // How long it waits is for others to say, so it has no place during the wait.
    visit.leave();
    this.#open.add(end);
    response.once('close', close);
    request.socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    // The client may have disconnected before the listener was added.
    if (this.#closing || gone()) close();
    let isValid = true;
    const { clock, limits, authenticator } = this.#parts;
    const look = async (): Promise<boolean> => (isValid = await authenticator.stillValid(caller));
    every(clock, limits.revalidateMs, end.signal, look).then(close, close);
    try {
      const answer = await task({ signal: end.signal, gone });
      if (!isValid) throw new Failure('unauthenticated', `${ENDED} The request itself was executed.`);
      return answer;
    } catch (error) {
      // A probe that was ended says that it cannot be done now, which would invite a retry.
      throw isValid || (error instanceof Failure && error.code === 'unauthenticated')
        ? error
        : new Failure('unauthenticated', ENDED);
    } finally {
      close();
      response.off('close', close);
      this.#open.delete(end);
    }
  }
}
