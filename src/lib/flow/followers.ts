/** Waiters by key. A waiter is woken once and then reads again; nothing is queued for it. */
export class Followers {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next `wake` of this key or `wakeAll`, or when `signal` aborts. */
  next(key: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const set = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, set);
      const done = (): void => {
        signal.removeEventListener('abort', done);
        set.delete(done);
        if (set.size === 0 && this.#waiting.get(key) === set) this.#waiting.delete(key);
        resolve();
      };
      set.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  wake(key: string): void {
    for (const done of this.#waiting.get(key) ?? []) done();
  }

  wakeAll(): void {
    for (const key of this.#waiting.keys()) this.wake(key);
  }
}
