import type { Caller } from '../../domain/access/caller.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from './operation.ts';
import { actorOf } from './reply.ts';

/**
 * A page that is open asks again every few seconds: within this time a further reading of the same by the same caller
 * leaves no row. Milliseconds.
 */
const AGAIN_MS = 3_600_000;
/** Readings that are remembered; of the oldest one, the next reading leaves a row again. */
const REMEMBERED_MAX = 10_000;

const remembered = new WeakMap<Store, Map<string, number>>();

/** Leaves the row of a reading in the ledger. Rejects where it cannot be written: then nothing may be shown. */
export async function auditRead(
  { store, services }: Pick<Context, 'store' | 'services'>,
  caller: Caller,
  { operation, target }: { readonly operation: string; readonly target: string },
): Promise<void> {
  const times = remembered.get(store) ?? new Map<string, number>();
  remembered.set(store, times);
  const key = `${caller.id} ${caller.via} ${operation} ${target}`;
  const now = services.clock.now();
  const before = times.get(key);
  // Also after the clock was set back.
  if (before !== undefined && Math.abs(now - before) < AGAIN_MS) return;
  await store.write((tx) => {
    tx.record({ ...actorOf(caller), operation, target, detail: {} });
    return Promise.resolve();
  });
  times.delete(key);
  times.set(key, now);
  const [oldest] = times.keys();
  if (times.size > REMEMBERED_MAX && oldest !== undefined) times.delete(oldest);
}
