import type { Clock } from './clock.ts';

/**
 * Loads a value at most once in `keepMs`, and returns it without a promise in between. When a later load fails, the
 * value that was loaded before stays in use: a process that has its key can do without the file of the key.
 */
export function recent<T>(
  clock: Pick<Clock, 'monotonic'>,
  keepMs: number,
  load: () => Promise<T>,
): () => T | Promise<T> {
  let last: { readonly value: T; until: number } | null = null;
  return () => {
    if (last !== null && clock.monotonic() < last.until) return last.value;
    const before = last;
    return load().then(
      (value) => {
        last = { value, until: clock.monotonic() + keepMs };
        return value;
      },
      (error: unknown) => {
        if (before === null) throw error;
        before.until = clock.monotonic() + keepMs;
        return before.value;
      },
    );
  };
}
