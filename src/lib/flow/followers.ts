/** Who waits for news of what, by key. A follower is woken once and asks again; nothing is queued for it. */
export class Followers {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next `tell` of this key or `tellAll`, or when `signal` aborts. */
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

  tell(key: string): void {
    for (const done of this.#waiting.get(key) ?? []) done();
  }

  tellAll(): void {
    for (const key of this.#waiting.keys()) this.tell(key);
  }

  get size(): number {
    return this.#waiting.size;
  }
}
