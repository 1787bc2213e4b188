import type { Socket } from 'node:net';

/** Checks in a row without progress after which a reader counts as stalled. */
export const STALLED_LOOKS = 6;

/** Detects a client that reads none of the bytes that wait for it. */
export class Progress {
  readonly #socket: Pick<Socket, 'bytesWritten' | 'writableLength'>;
  #taken = -1;
  #stalled = 0;

  constructor(socket: Pick<Socket, 'bytesWritten' | 'writableLength'>) {
    this.#socket = socket;
  }

  /** False once bytes have waited for `STALLED_LOOKS` checks and none of them was read. */
  look(): boolean {
    const { bytesWritten, writableLength } = this.#socket;
    // Bytes that wait in memory count as written.
    const taken = bytesWritten - writableLength;
    this.#stalled = writableLength > 0 && taken === this.#taken ? this.#stalled + 1 : 0;
    this.#taken = taken;
    return this.#stalled < STALLED_LOOKS;
  }
}
