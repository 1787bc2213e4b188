import type { MakeLoop, Pass } from '../core/loop.ts';
import { DAY_MS } from '../../domain/checks/sweep/day.ts';
import { deleteDays, dropSlots, goneTargets, removeHistory } from '../../store/checks/history.ts';
import { AGED } from '../../store/old-rows.ts';
import type { ClockWatch } from './clock-watch.ts';
import { graceUntil, noteShortened, takeTurn } from '../../store/maintenance/retention-turn.ts';
import {
  deleteFires,
  deleteNotifications,
  FIRST_FIRE,
  type FireId,
  oldFires,
  oldNotifications,
} from '../../store/maintenance/retention.ts';
import { forgetOld, type ForgetDeps, giveBack } from './forget.ts';
import { rest } from './rest.ts';

export interface RetentionDeps extends ForgetDeps {
  /** How long rows are kept, in milliseconds. */
  readonly keep: KeptFor;
  readonly clockWatch: ClockWatch;
}

/** In milliseconds; 0 for ever. */
export interface KeptFor {
  readonly jobsMs: number;
  readonly eventsMs: number;
  readonly notificationsMs: number;
}

/** Interval of the retention pass, in milliseconds; the exact time does not matter. */
const RETENTION_EVERY_MS = 3_600_000;
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
/** Notifications of one write: each has a delivery to every target, and an entry in five indexes. */
const NOTIFICATIONS_BATCH = 100;

/** Deletes old, finished rows in small writes. After a crash the next pass continues; concurrent passes are safe. */
export async function retainOnce(deps: Omit<RetentionDeps, 'clockWatch'>, signal?: AbortSignal): Promise<Pass> {
  const { store, clock, keep } = deps;
  const did = { notifications: 0, jobs: 0, events: 0 };
  if (clock.now() >= (await graceUntil(store.db, clock.now()))) {
    did.notifications = await forgetNotifications(deps, keep.notificationsMs, signal);
    // First the jobs: the event of a job is deleted after the job.
    did.jobs = await forgetOld(deps, AGED.jobs, keep.jobsMs, signal);
    did.events = await forgetOld(deps, AGED.events, keep.eventsMs, signal);
  }
  const fires = await forgetFires(deps, signal);
  const days = await forgetDays(deps, signal);
  await giveBack(deps, signal);
  return { did: { ...did, rule_fires: fires, check_days: days } };
}

async function forgetNotifications(deps: ForgetDeps, keptMs: number, signal: AbortSignal | undefined): Promise<number> {
  const { store, clock, self } = deps;
  if (keptMs === 0) return 0;
  const before = clock.now() - keptMs;
  const ended = (): boolean => signal?.aborted === true;
  let count = 0;
  while (!ended()) {
    const ids = await oldNotifications(store.db, before, NOTIFICATIONS_BATCH);
    if (ids.length === 0) break;
    for (let more = true; more && !ended();) {
      const beganAt = clock.monotonic();
      const result = await store.write(async (tx) => {
        if (!(await takeTurn(tx, 'notifications', self()))) return 'not our turn';
        if (!(await deleteNotifications(tx, ids, BATCH))) return 'more';
        await noteShortened(tx, 'notifications', ids.length);
        return 'done';
      });
      if (result === 'not our turn') return count;
      more = result === 'more';
      await rest(clock, beganAt, signal);
    }
    if (!ended()) count += ids.length;
  }
  return count;
}

async function forgetFires({ store, clock }: ForgetDeps, signal: AbortSignal | undefined): Promise<number> {
  const before = clock.now() - FIRES_KEPT_MS;
  const ended = (): boolean => signal?.aborted === true;
  let count = 0;
  let from: FireId | null = FIRST_FIRE;
  while (from !== null && !ended()) {
    const beganAt = clock.monotonic();
    const { old, next } = await oldFires(store.db, before, from, BATCH);
    if (old.length > 0) await store.write((tx) => deleteFires(tx, old, before));
    count += old.length;
    from = next;
    if (from !== null) await rest(clock, beganAt, signal);
  }
  return count;
}

/** The history of checks: half hours, then days, and that of targets which are gone. */
async function forgetDays({ store, clock }: ForgetDeps, signal: AbortSignal | undefined): Promise<number> {
  const today = Math.floor(clock.now() / DAY_MS);
  const ended = (): boolean => signal?.aborted === true;
  /** One write after the other, each followed by a pause, while there is more. */
  const repeat = async (write: () => Promise<boolean>): Promise<void> => {
    for (let more = true; more && !ended();) {
      const beganAt = clock.monotonic();
      more = await write();
      if (more) await rest(clock, beganAt, signal);
    }
  };
  let count = 0;
  await repeat(() => store.write((tx) => dropSlots(tx, today - CHECK_SLOTS_DAYS, BATCH)));
  await repeat(async () => {
    const deleted = await store.write((tx) => deleteDays(tx, today - CHECK_DAYS, BATCH));
    count += deleted;
    return deleted >= BATCH;
  });
  await repeat(async () => {
    const targets = await goneTargets(store.db, BATCH);
    if (targets.length > 0)
      await store.write(async (tx) => {
        for (const { check_name: check, name } of targets) removeHistory(tx, check, name);
      });
    return targets.length >= BATCH;
  });
  return count;
}

export const retentionLoop: MakeLoop<RetentionDeps> = (deps) => ({
  name: 'retention',
  everyMs: RETENTION_EVERY_MS,
  wakeOn: [],
  once: async (signal) => (deps.clockWatch.isSuspicious() ? { did: { clock_set_ahead: 1 } } : retainOnce(deps, signal)),
});
