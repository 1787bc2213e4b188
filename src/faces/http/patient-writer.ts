import type { ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import type { HttpLimits } from './limits.ts';

/** Text is buffered up to this size, or until the next turn of the event loop, so that small events share a packet. */
const GATHER_CHARS = 16_384;
/** Of longer parts, written at a time. */
const PIECE_BYTES = 65_536;

/**
 * Writes an answer at the speed of its reader. The memory is bounded: `write` resolves only when there is
 * room again, and a reader that is too slow loses its connection (measured without it: one client
 * that never reads cost 642 MB in 4 s).
 */
export class PatientWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #limits: Pick<HttpLimits, 'bufferBytes' | 'drainMs'>;
  readonly #signal: AbortSignal | undefined;
  #gathered = '';
  #scheduled = false;

  /** A write that waits for its reader gives up when `signal` aborts. */
  constructor(
    response: ServerResponse,
    clock: Clock,
    limits: Pick<HttpLimits, 'bufferBytes' | 'drainMs'>,
    signal?: AbortSignal,
  ) {
    this.#response = response;
    this.#clock = clock;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** False when the client is gone or was cut off because it read too slowly: then no more needs to be produced. */
  async write(part: string | Buffer): Promise<boolean> {
    if (this.#isOver()) return false;
    if (typeof part === 'string' && part.length <= PIECE_BYTES) {
      this.#gathered += part;
      if (this.#gathered.length < GATHER_CHARS) {
        this.#schedule();
        return this.#hasRoom();
      }
      this.flush();
      return (await this.#turn()) && this.#hasRoom();
    }
    this.flush();
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (this.#isOver()) return false;
      this.#response.write(bytes.subarray(at, at + PIECE_BYTES));
      if (!((await this.#turn()) && (await this.#hasRoom()))) return false;
    }
    return true;
  }

  #isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /**
   * The kernel may accept everything at once: without a turn of the event loop a long answer would block all others
   * until it is complete (measured: 650 ms for 20,000 jobs). False without the client.
   */
  async #turn(): Promise<boolean> {
    try {
      await requestTurn();
    } catch (error) {
      if (!this.#response.destroyed) throw error;
    }
    return !this.#response.destroyed;
  }

  /** Waits for the reader; many that did so would continue in one turn. */
  async #hasRoom(): Promise<boolean> {
    if (this.#response.writableLength <= this.#limits.bufferBytes) return true;
    return (await this.#drained()) && this.#turn();
  }

  flush(): void {
    const text = this.#gathered;
    this.#gathered = '';
    if (text === '' || this.#isOver()) return;
    // Node reserves three bytes for each character of a waiting string: 8 clients that never read held 6 MB, now 3.
    this.#response.write(Buffer.from(text));
  }

  /** Ends the answer. What the client has not read in time is dropped with its connection. */
  end(): void {
    this.flush();
    const response = this.#response;
    if (this.#isOver()) return;
    const cancel = this.#clock.after(this.#limits.drainMs, () => response.destroy());
    response.once('finish', cancel).once('close', cancel);
    response.end();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  #drained(): Promise<boolean> {
    if (this.#signal?.aborted === true) return Promise.resolve(false);
    const response = this.#response;
    return new Promise((resolve) => {
      const finish = (alive: boolean): void => {
        cancel();
        response.off('drain', drained).off('close', gone);
        this.#signal?.removeEventListener('abort', gone);
        resolve(alive);
      };
      const drained = (): void => finish(true);
      const gone = (): void => finish(false);
      const cancel = this.#clock.after(this.#limits.drainMs, () => {
        finish(false);
        response.destroy();
      });
      response.once('drain', drained).once('close', gone);
      this.#signal?.addEventListener('abort', gone, { once: true });
    });
  }
}
