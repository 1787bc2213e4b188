import type { Socket } from 'node:net';

/** Looks in a row without progress after which a reader counts as stopped. */
export const STALLED_LOOKS = 6;

/** Tells when a client takes nothing of what waits for it. */
export class Progress {
  readonly #socket: Pick<Socket, 'bytesWritten' | 'writableLength'>;
  #taken = -1;
  #stalled = 0;

  constructor(socket: Pick<Socket, 'bytesWritten' | 'writableLength'>) {
    this.#socket = socket;
  }

  /** False once bytes have waited for `STALLED_LOOKS` looks and none of them was taken. */
  look(): boolean {
    const { bytesWritten, writableLength } = this.#socket;
    // What waits in memory counts as written.
    const taken = bytesWritten - writableLength;
    this.#stalled = writableLength > 0 && taken === this.#taken ? this.#stalled + 1 : 0;
    this.#taken = taken;
    return this.#stalled < STALLED_LOOKS;
  }
}
