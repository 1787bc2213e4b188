import type { Clock } from '../clock.ts';

/** `isEnough` is asked of a value that is still kept: where it is false, the value is loaded again. */
type Recent<T> = (isEnough?: (value: T) => boolean) => T | Promise<T>;

/**
 * Loads a value at most once in `keepMs`, and returns it without a promise in between. When a later load fails, the
 * value that was loaded before stays in use: a process that has its key can do without the file of the key.
 */
export function recent<T>(clock: Pick<Clock, 'monotonic'>, keepMs: number, load: () => Promise<T>): Recent<T> {
  let last: { readonly value: T; until: number } | null = null;
  return (isEnough = () => true) => {
    if (last !== null && clock.monotonic() < last.until && isEnough(last.value)) return last.value;
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
