/** A wake-up signal that is remembered: a wait after the signal resolves at once, and many signals count as one. */
export class Latch {
  #rung = false;
  #waiting: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Resolves at the wake-up, or when `signal` aborts. One waiter at a time. */
  wait(signal: AbortSignal): Promise<void> {
    if (this.#rung || signal.aborted) {
      this.#rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#waiting = null;
        this.#rung = false;
        resolve();
      };
      this.#waiting = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
