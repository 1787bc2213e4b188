/** Schedules, and a store whose time a test moves. */
import { Scheduler } from '../../src/daemon/schedule.ts';
import { runbookOf, type ScheduledAction } from '../../src/domain/schedule.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { insertSchedule } from '../../src/store/schedules.ts';
import type { ScheduleRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';

export interface MovedTime {
  readonly clock: Clock;
  /** Time passes, on every clock. */
  pass(ms: number): void;
  /** The wall clock jumps; no time passes. */
  jump(ms: number): void;
  now(): number;
}

export function timeFrom(start: string): MovedTime {
  let [wall, passed] = [Date.parse(start), 0];
  return {
    clock: { ...systemClock, now: () => wall, monotonic: () => passed },
    pass(ms) {
      wall += ms;
      passed += ms;
    },
    jump: (ms) => void (wall += ms),
    now: () => wall,
  };
}

/** The store as deadlines see it, by the time of the test also where the database has its own. */
export function storeAt(store: Store, time: MovedTime): Store {
  return { ...store, dialect: { ...store.dialect, clock: () => Promise.resolve(time.now()) } };
}

export const TRUE: ScheduledAction = {
  kind: 'command',
  command: ['/bin/true'],
  inventory: 'localhost',
  limit: null,
  timeout: null,
};

export async function addSchedule(
  store: Store,
  some: Partial<Omit<ScheduleRow, 'action'>> & { action?: ScheduledAction } = {},
): Promise<ScheduleRow> {
  const { action = TRUE } = some;
  const row: ScheduleRow = {
    name: 'nightly',
    cron: '0 3 * * *',
    timezone: 'UTC',
    enabled: 1,
    runbook: runbookOf(action),
    approval: 'none',
    approval_ttl_ms: null,
    owners: '["ana"]',
    added_by: 'ana-laptop',
    next_at: null,
    last_at: null,
    order_tag: null,
    order_key_id: null,
    last_job_id: null,
    last_refusal: null,
    created_at: 1,
    ...some,
    action: JSON.stringify(action),
  };
  await store.write((tx) => insertSchedule(tx, row));
  return row;
}

export function scheduleOf(store: Store, name = 'nightly'): Promise<ScheduleRow> {
  return store.db.selectFrom('schedules').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const YEAR = 365 * 24 * HOUR;
export const TTL = 30 * MINUTE;

/** A daemon's look at schedules. */
export function daemon(store: Store, time: MovedTime): Scheduler {
  return new Scheduler({ store: storeAt(store, time), clock: time.clock, wake: () => undefined, approvalTtlMs: TTL });
}

export function jobs(store: Store) {
  return store.db.selectFrom('jobs').selectAll().orderBy('id').execute();
}

export async function audited(
  store: Store,
): Promise<{ operation: string; target: string | null; detail: Record<string, unknown> }[]> {
  const rows = await store.db
    .selectFrom('ledger')
    .select(['operation', 'target', 'detail'])
    .orderBy('at')
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
}

export async function slotsRun(store: Store): Promise<unknown[]> {
  return (await audited(store))
    .filter(({ operation }) => operation === 'schedule.run')
    .map(({ detail }) => String(detail['slot']).slice(0, 16));
}

export async function nextOf(store: Store): Promise<string | null> {
  const { next_at: at } = await scheduleOf(store);
  return at === null ? null : new Date(at).toISOString().slice(0, 16);
}
