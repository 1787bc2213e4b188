import type { LoopRow, Pass } from '../core/loop.ts';
import { DAY_MS } from '../../domain/checks/sweep/day.ts';
import type { Clock } from '../../lib/clock.ts';
import { deleteDays, dropSlots, goneTargets, removeHistory } from '../../store/checks/history.ts';
import {
  deleteFires,
  deleteNotifications,
  FIRST_FIRE,
  type FireId,
  oldFires,
  oldNotifications,
} from '../../store/maintenance/retention.ts';
import type { Store } from '../../store/store.ts';

interface RetentionDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Interval of the retention pass, in milliseconds; the exact time does not matter. */
const RETENTION_EVERY_MS = 3_600_000;
/** How long the reason of a notification is kept, in milliseconds: 30 days. */
export const NOTIFICATIONS_KEPT_MS = 30 * 86_400_000;
/**
 * Longer than the longest cooldown of a rule, which is 366 days, in milliseconds: until then a fire may hold the next
 * one.
 */
export const FIRES_KEPT_MS = 367 * 86_400_000;
/** Days for which the half hours of a target are kept; older days keep their counts. */
export const CHECK_SLOTS_DAYS = 8;
/** Days for which the counts of a target are kept: one more than the longest window of an uptime. */
export const CHECK_DAYS = 91;
/**
 * The rows of one write and of one read, so that neither blocks others: 500 take some milliseconds on either database.
 */
const BATCH = 500;

/** Deletes old, finished rows in small writes. After a crash the next pass continues; concurrent passes are safe. */
export async function retainOnce(deps: RetentionDeps, signal?: AbortSignal): Promise<Pass> {
  const notifications = await forgetNotifications(deps, signal);
  const fires = await forgetFires(deps, signal);
  return { did: { notifications, rule_fires: fires, check_days: await forgetDays(deps, signal) } };
}

async function forgetNotifications({ store, clock }: RetentionDeps, signal: AbortSignal | undefined): Promise<number> {
  const before = clock.now() - NOTIFICATIONS_KEPT_MS;
  const ended = (): boolean => signal?.aborted === true;
  let count = 0;
  while (!ended()) {
    const ids = await oldNotifications(store.db, before, BATCH);
    if (ids.length === 0) break;
    while (!ended() && !(await store.write((tx) => deleteNotifications(tx, ids, BATCH))));
    count += ids.length;
  }
  return count;
}

async function forgetFires({ store, clock }: RetentionDeps, signal: AbortSignal | undefined): Promise<number> {
  const before = clock.now() - FIRES_KEPT_MS;
  const ended = (): boolean => signal?.aborted === true;
  let count = 0;
  let from: FireId | null = FIRST_FIRE;
  while (from !== null && !ended()) {
    const { old, next } = await oldFires(store.db, before, from, BATCH);
    if (old.length > 0) await store.write((tx) => deleteFires(tx, old, before));
    count += old.length;
    from = next;
  }
  return count;
}

/** The history of checks: half hours, then days, and that of targets which are gone. */
async function forgetDays({ store, clock }: RetentionDeps, signal: AbortSignal | undefined): Promise<number> {
  const today = Math.floor(clock.now() / DAY_MS);
  const ended = (): boolean => signal?.aborted === true;
  while (!ended() && (await store.write((tx) => dropSlots(tx, today - CHECK_SLOTS_DAYS, BATCH))));
  let count = 0;
  for (let deleted = BATCH; deleted >= BATCH && !ended(); count += deleted)
    deleted = await store.write((tx) => deleteDays(tx, today - CHECK_DAYS, BATCH));
  for (let gone = BATCH; gone >= BATCH && !ended();) {
    const targets = await goneTargets(store.db, BATCH);
    gone = targets.length;
    if (gone > 0)
      await store.write(async (tx) => {
        for (const { check_name: check, name } of targets) removeHistory(tx, check, name);
      });
  }
  return count;
}

export const retentionLoop: LoopRow<RetentionDeps> = {
  name: 'retention',
  everyMs: RETENTION_EVERY_MS,
  wakeOn: [],
  once: retainOnce,
};
