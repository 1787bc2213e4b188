import type { Clock } from '../clock.ts';

interface Debounced {
  readonly call: () => void;
  /** Cancels the pending call and ignores later ones. */
  readonly cancel: () => void;
}

/** Calls `fire` once, `ms` milliseconds after the first of many calls. */
export function debounce(clock: Clock, ms: number, fire: () => void): Debounced {
  let stop: (() => void) | null = null;
  let isOver = false;
  return {
    call() {
      if (isOver || stop !== null) return;
      stop = clock.after(ms, () => {
        stop = null;
        fire();
      });
    },
    cancel() {
      isOver = true;
      stop?.();
    },
  };
}
