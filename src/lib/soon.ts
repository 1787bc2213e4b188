import type { Clock } from './clock.ts';

/** Calls `fire` once, `ms` milliseconds after the first of many calls of what it answers. */
export function soon(clock: Clock, ms: number, fire: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    clock.after(ms, () => {
      waits = false;
      fire();
    });
  };
}
