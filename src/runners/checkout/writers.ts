/** Files that are written at a time: each waits for the disk once. */
const WRITERS = 8;

/**
 * Does a few things at a time. What failed first is thrown by the next call, when nothing is being written any more.
 */
export class Writers {
  readonly #running = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];

  async add(work: () => Promise<void>): Promise<void> {
    if (this.#running.size >= WRITERS) await Promise.race(this.#running);
    if (this.#failures.length > 0) {
      await this.settle();
      this.throwFailure();
    }
    const running: Promise<void> = work()
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits until nothing is being done any more. Never rejects. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  throwFailure(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}
