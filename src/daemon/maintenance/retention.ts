import type { Clock } from '../../lib/clock.ts';
import {
  deleteFires,
  deletePages,
  FIRST_FIRE,
  type FireId,
  oldFires,
  oldPages,
} from '../../store/maintenance/retention.ts';
import type { Store } from '../../store/store.ts';

export interface RetentionDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** How often it is looked for what may be forgotten, in milliseconds: nothing hangs on when. */
export const RETENTION_EVERY_MS = 3_600_000;
/** So long people may ask why they were told something, in milliseconds: 30 days. */
export const PAGES_KEPT_MS = 30 * 86_400_000;
/**
 * Longer than the longest cooldown of a rule, which is 366 days, in milliseconds: until then a fire may hold the next
 * one.
 */
export const FIRES_KEPT_MS = 367 * 86_400_000;
/** Rows of one write and of one read, so that neither holds up others: 500 are some milliseconds on either database. */
const BATCH = 500;

/**
 * Forgets what is old and over, in small writes. A daemon that dies in between leaves the rest to the next pass; two at
 * a time do no harm.
 */
export async function retainOnce(deps: RetentionDeps, signal?: AbortSignal): Promise<void> {
  await forgetPages(deps, signal);
  await forgetFires(deps, signal);
}

async function forgetPages({ store, clock }: RetentionDeps, signal: AbortSignal | undefined): Promise<void> {
  const before = clock.now() - PAGES_KEPT_MS;
  const ended = (): boolean => signal?.aborted === true;
  while (!ended()) {
    const ids = await oldPages(store.db, before, BATCH);
    if (ids.length === 0) return;
    while (!ended() && !(await store.write((tx) => deletePages(tx, ids, BATCH))));
  }
}

async function forgetFires({ store, clock }: RetentionDeps, signal: AbortSignal | undefined): Promise<void> {
  const before = clock.now() - FIRES_KEPT_MS;
  const ended = (): boolean => signal?.aborted === true;
  let from: FireId | null = FIRST_FIRE;
  while (from !== null && !ended()) {
    const { old, next } = await oldFires(store.db, before, from, BATCH);
    if (old.length > 0) await store.write((tx) => deleteFires(tx, old, before));
    from = next;
  }
}
