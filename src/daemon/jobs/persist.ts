import { Failure } from '../../domain/failure.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Store } from '../../store/store.ts';

/** Pause before a refused write is tried again, in milliseconds. */
const RETRY_MS = 500;
/** While shutting down a write is tried this often; after that the next daemon finds the job interrupted. */
const SHUTDOWN_ATTEMPTS = 10;
/** The number of attempts of a write that fails permanently: the next daemon finds the job interrupted. */
const OTHER_ERROR_ATTEMPTS = 5;

interface Place {
  readonly store: Store;
  readonly clock: Clock;
  readonly isClosed: () => boolean;
}

/**
 * Writes something that must not be lost: while the store can't take it (disk full, server away) the run waits, and
 * with it, by back-pressure, its program. `again` tells `work` that an earlier attempt may have been committed.
 */
export async function persist<T>(
  { store, clock, isClosed }: Place,
  work: (tx: Tx, again: boolean) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await store.write((tx) => work(tx, attempt > 0));
    } catch (error) {
      const passing = error instanceof Failure && error.code === 'unavailable';
      const isLast = (!passing && attempt >= OTHER_ERROR_ATTEMPTS) || (isClosed() && attempt >= SHUTDOWN_ATTEMPTS);
      if (isLast) throw error;
      await pause(clock, RETRY_MS);
    }
  }
}
