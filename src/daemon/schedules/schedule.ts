import type { MakeLoop } from '../core/loop.ts';
import { Failure } from '../../domain/failure.ts';
import { countsFrom } from '../../domain/schedules/schedule.ts';
import { type ReadTimetable, timetableReader } from '../../domain/schedules/timetable.ts';
import { type Clock, rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import type { QueuedSome } from '../../jobs/action-row.ts';
import { queueAction, queueRest } from '../../jobs/actions.ts';
import { type Gate, type QueueDeps, queuedDetail, type Queueing } from '../../jobs/queue.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { StoreClock } from '../core/store-clock.ts';
import { recordService } from '../jobs/job-transitions.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import {
  listDue,
  listSchedules,
  listWithRest,
  moveSlot,
  nextSlot,
  noteJob,
  noteRefusal,
  noteRest,
  takeRest,
  takeSlot,
} from '../../store/schedules/schedules.ts';
import type { ScheduleRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

interface ScheduleDeps extends QueueDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * The interval of passes if no slot is near, in milliseconds: a pass also finds the schedules of other processes and a
 * clock that jumped, without which the loop rests. A pass without a due slot reads one row of an index.
 */
const SCHEDULE_EVERY_MS = 1_000;
/** The size of a batch, which bounds the work after a long stop. */
const BATCH = 100;

/** Queues what schedules do, each slot once, however many daemons share the store and however their clocks jump. */
export class Scheduler {
  readonly #deps: ScheduleDeps;
  readonly #time: StoreClock;
  /** Whether a stored next slot may differ from the one that follows from the schedule and the time. */
  #mayBeOff = true;
  #read: Promise<ReadTimetable> | null = null;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
    this.#time = new StoreClock(deps);
  }

  /** The next pass computes every next slot again. */
  replan(): void {
    this.#mayBeOff = true;
  }

  /** Takes every due slot. Returns the milliseconds until the next one; null without one. */
  async sweepOnce(signal?: AbortSignal): Promise<number | null> {
    const { db } = this.#deps.store;
    const ended = (): boolean => signal?.aborted === true;
    if (this.#mayBeOff) await this.#now();
    while (!ended()) {
      const begun = await listWithRest(db, BATCH);
      await allOf(begun.map((row) => this.#takeRest(row)));
      if (begun.length > 0) continue;
      const next = await nextSlot(db);
      if (next === null) break;
      const now = await this.#now();
      if (next > now) return next - now;
      const read = await this.#reader();
      await allOf((await listDue(db, now, BATCH)).map((row) => this.#take(row, slotAfter(read, row, now))));
    }
    return null;
  }

  /** The time of the store. In the first pass, and after the clock was set back, every next slot is computed again. */
  async #now(): Promise<number> {
    const { now, wasSet } = await this.#time.read();
    if (wasSet === 'back') this.#mayBeOff = true;
    if (this.#mayBeOff) await this.#straighten(now);
    this.#mayBeOff = false;
    return now;
  }

  /**
   * Computes the next slots again. A slot that was computed while the clock was ahead would skip earlier ones, and so
   * would one that was computed with older rules of its time zone: these change with a version of the program, so the
   * first pass computes all slots. A due slot is left as it is.
   */
  async #straighten(now: number): Promise<void> {
    const { store } = this.#deps;
    for (const row of await listSchedules(store.db)) {
      if (row.enabled === 0 || (row.next_at !== null && row.next_at <= now)) continue;
      const next = slotAfter(await this.#reader(), row, countsFrom(now, row.last_at));
      if (next === row.next_at) continue;
      await store.write(async (tx) => {
        if (!(await moveSlot(tx, row, next))) return;
        recordService(tx, 'schedule.move', row.name, { next_at: next === null ? null : rfc3339(next) });
      });
    }
  }

  #reader(): Promise<ReadTimetable> {
    return (this.#read ??= timetableReader());
  }

  /** Writes the slot and its job in one transaction. Of several missed slots, only this one runs. */
  async #take(seen: ScheduleRow, next: number | null): Promise<void> {
    const deps = this.#deps;
    await deps.store.write(async (tx) => {
      const row = await takeSlot(tx, seen, next);
      if (row === undefined) return;
      const slot = { slot: row.last_at === null ? null : rfc3339(row.last_at) };
      let queued: QueuedSome;
      try {
        queued = await queueAction(await queueingOf(tx, deps, row), fromJson(row.action));
      } catch (error) {
        const { code, message } = refusalOf(error);
        await noteRefusal(tx, row.name, message);
        return record(tx, row, 'schedule.refuse', { ...slot, code, reason: message });
      }
      await noteJob(tx, row.name, queued.jobId);
      if (typeof queued.stoppedAt === 'string') await noteRest(tx, row.name, queued.stoppedAt);
      record(tx, row, 'schedule.run', { ...slot, job_id: queued.jobId, ...queuedDetail(queued) });
    });
  }

  /** Writes more jobs of a slot, and where that stopped, in one transaction: each is queued once, by any daemon. */
  async #takeRest(seen: ScheduleRow): Promise<void> {
    const deps = this.#deps;
    await deps.store.write(async (tx) => {
      if (seen.rest_after === null || (await takeRest(tx, seen)) === undefined) return;
      try {
        const stoppedAt = await queueRest(await queueingOf(tx, deps, seen), fromJson(seen.action), seen.rest_after);
        if (stoppedAt !== null) await noteRest(tx, seen.name, stoppedAt);
      } catch (error) {
        const { code, message } = refusalOf(error);
        await noteRefusal(tx, seen.name, message);
        record(tx, seen, 'schedule.refuse', { code, reason: message, after: seen.rest_after });
      }
    });
  }
}

/** A refusal comes before any write and still completes the slot; any other error is thrown, and rolls it back. */
function refusalOf(error: unknown): Failure {
  if (error instanceof Failure && error.code !== 'unavailable') return error;
  throw error;
}

/** One that cannot be written does not block the others; the next pass tries it again. */
async function allOf(writes: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(writes)) if (each.status === 'rejected') throw each.reason;
}

/** Null also for a schedule that cannot be read, for example because this version does not know its time zone. */
function slotAfter(read: ReadTimetable, { cron, timezone }: ScheduleRow, afterMs: number): number | null {
  try {
    return read(cron, timezone).next(afterMs);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Throws forbidden for a row that somebody changed. */
async function queueingOf(tx: Tx, deps: QueueDeps, row: ScheduleRow): Promise<Queueing> {
  await checkTag(tx, 'schedules', row);
  const provenance = { origin: 'schedule', schedule: row.name } as const;
  const gate: Gate | null =
    row.approval === 'required' ? { ...provenance, ttlMs: row.approval_ttl_ms ?? deps.approvalTtlMs } : null;
  const owners = fromJson(row.owners);
  const asker = { trigger: 'schedule', requestedBy: row.added_by, owners, summary: row.summary, provenance } as const;
  return { tx, deps, asker, gate };
}

function record(
  tx: Tx,
  { name, added_by: principal, owners }: ScheduleRow,
  operation: string,
  detail: Readonly<Record<string, unknown>>,
): void {
  tx.record({ principal, owner: ownerIn(owners) ?? principal, via: 'schedule', operation, target: name, detail });
}

/** Null also for what is no such column: the refusal of a row that somebody wrote must not fail, too. */
function ownerIn(owners: string): string | null {
  try {
    const parsed: unknown = JSON.parse(owners);
    const owner: unknown = Array.isArray(parsed) ? parsed[0] : null;
    return typeof owner === 'string' ? owner : null;
  } catch {
    return null;
  }
}

interface ScheduleLoopDeps {
  readonly scheduler: Scheduler;
}

export const scheduleLoop: MakeLoop<ScheduleLoopDeps> = ({ scheduler }) => ({
  name: 'schedule',
  everyMs: SCHEDULE_EVERY_MS,
  wakeOn: [],
  restsWithoutCommits: true,
  async once(signal) {
    const dueMs = await scheduler.sweepOnce(signal);
    return dueMs === null ? {} : { dueMs };
  },
});
