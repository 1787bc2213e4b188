import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { forgetManaged } from '../configuration/managed.ts';
import type { Tx } from '../engine/tx.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import { prepared } from '../engine/prepared.ts';
import { found, hasChanged, insertRow } from '../engine/rows.ts';
import type { Db, ScheduleRow } from '../schema/schema.ts';

/** Written out, so that the partial index of what may fall due serves the query. */
const ENABLED = sql.lit(1 as const);

/** By name. */
export function listSchedules(db: Db): Promise<ScheduleRow[]> {
  return db.selectFrom('schedules').selectAll().orderBy('name').execute();
}

/** Those that are enabled and were written for an earlier build, by name. */
export function listEarlier(db: Db): Promise<Pick<ScheduleRow, 'name' | 'cron'>[]> {
  const rows = db.selectFrom('schedules').select(['name', 'cron']).where('enabled', '=', ENABLED);
  return rows.where('star_steps', 'is', null).orderBy('name').execute();
}

/** A schedule before it is tagged. */
export type NewSchedule = Omit<ScheduleRow, 'order_tag' | 'order_key_id'>;

/** Throws duplicate where the name is taken. */
export async function insertSchedule(tx: Tx, row: NewSchedule): Promise<void> {
  if (!(await insertRow(tx.db, 'schedules', { ...row, ...tagOf(tx.ring, 'schedules', row) }, 'skip')))
    throw new Failure(
      'duplicate',
      `name: a schedule with the name ${row.name} already exists; use --replace to replace it.`,
    );
}

/** What its author says of a schedule, besides its name. */
type Definition = Omit<
  NewSchedule,
  'name' | 'enabled' | 'created_at' | 'last_at' | 'last_job_id' | 'last_refusal' | 'next_at' | 'rest_after'
>;

/** Replaces what a schedule says and its owners; `held` is its row, which stays enabled or disabled. */
export async function replaceSchedule(
  tx: Tx,
  held: ScheduleRow,
  to: Definition & Pick<ScheduleRow, 'next_at'>,
): Promise<NewSchedule> {
  const row = { ...held, ...to };
  await tx.db
    .updateTable('schedules')
    .set({ ...to, ...tagOf(tx.ring, 'schedules', row), rest_after: null })
    .where('name', '=', held.name)
    .execute();
  return row;
}

/** Undefined if no schedule has the name. The row is locked until the write has ended. */
export async function findHeldSchedule(tx: Tx, name: string): Promise<ScheduleRow | undefined> {
  const [row] = await tx.dialect.holdRows(tx.db.selectFrom('schedules').selectAll().where('name', '=', name)).execute();
  return row;
}

/** Throws not_found. The row is locked until the write has ended. */
export async function holdSchedule(tx: Tx, name: string): Promise<ScheduleRow> {
  return found(await findHeldSchedule(tx, name), 'schedule', name);
}

/** Switches it on or off. `next_at` is null for one that is off. */
export async function switchSchedule(
  tx: Tx,
  held: ScheduleRow,
  to: Pick<ScheduleRow, 'enabled' | 'next_at' | 'owners'>,
): Promise<void> {
  await tx.db
    .updateTable('schedules')
    .set({ ...retagged(tx.ring, 'schedules', held, to), rest_after: null })
    .where('name', '=', held.name)
    .execute();
}

/** The row that is gone. Throws not_found. */
export async function deleteSchedule(tx: Tx, name: string): Promise<ScheduleRow> {
  const deleted = await tx.db.deleteFrom('schedules').where('name', '=', name).returningAll().executeTakeFirst();
  await forgetManaged(tx, 'schedule', name);
  return found(deleted, 'schedule', name);
}

const firstSlot = prepared<object, { next_at: number | null }>((db) =>
  db
    .selectFrom('schedules')
    .select('next_at')
    .where('enabled', '=', ENABLED)
    .where('next_at', 'is not', null)
    .orderBy('next_at')
    .limit(1),
);

/** When the next slot of all comes, in milliseconds since the epoch; null where none does. */
export async function nextSlot(db: Db): Promise<number | null> {
  return (await firstSlot(db, {})).rows[0]?.next_at ?? null;
}

/** Those whose slot has come, the oldest slot first. */
export function listDue(db: Db, now: number, limit: number): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedules')
    .selectAll()
    .where('enabled', '=', ENABLED)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .orderBy('name')
    .limit(limit)
    .execute();
}

/**
 * Takes the slot of `seen`, and sets the next one. Undefined if the slot is gone: another daemon took it, or the
 * schedule was disabled, removed or created again.
 */
export function takeSlot(tx: Tx, seen: ScheduleRow, next: number | null): Promise<ScheduleRow | undefined> {
  return tx.db
    .updateTable('schedules')
    .set({ next_at: next, last_at: seen.next_at, last_job_id: null, last_refusal: null, rest_after: null })
    .where('name', '=', seen.name)
    .where('created_at', '=', seen.created_at)
    .where('next_at', '=', seen.next_at)
    .where('enabled', '=', ENABLED)
    .returningAll()
    .executeTakeFirst();
}

/** Those whose last slot has more jobs to make. */
export async function listWithRest(db: Db, limit: number): Promise<ScheduleRow[]> {
  return (await withRest(db, { limit })).rows;
}

const withRest = prepared<{ limit: number }, ScheduleRow>((db, value) =>
  db.selectFrom('schedules').selectAll().where('rest_after', 'is not', null).orderBy('name').limit(value('limit')),
);

/** Takes the rest of `seen`. Undefined if it is gone: another daemon took it, or the schedule was changed. */
export function takeRest(tx: Tx, seen: ScheduleRow): Promise<ScheduleRow | undefined> {
  return tx.db
    .updateTable('schedules')
    .set({ rest_after: null })
    .where('name', '=', seen.name)
    .where('created_at', '=', seen.created_at)
    .where('last_at', '=', seen.last_at)
    .where('rest_after', '=', seen.rest_after)
    .returningAll()
    .executeTakeFirst();
}

/** Notes where the slot stopped, while it has more jobs to make. */
export async function noteRest(tx: Tx, name: string, after: string): Promise<void> {
  await tx.db.updateTable('schedules').set({ rest_after: after }).where('name', '=', name).execute();
}

/** Notes the job that the slot made. */
export async function noteJob(tx: Tx, name: string, jobId: string): Promise<void> {
  await tx.db.updateTable('schedules').set({ last_job_id: jobId }).where('name', '=', name).execute();
}

/** Notes why the slot made no job, in a sentence. */
export async function noteRefusal(tx: Tx, name: string, reason: string): Promise<void> {
  await tx.db.updateTable('schedules').set({ last_refusal: reason }).where('name', '=', name).execute();
}

/** Enabled ones whose last slot made no job, by name. */
export function listRefused(db: Db, limit: number): Promise<Pick<ScheduleRow, 'name' | 'last_refusal'>[]> {
  return db
    .selectFrom('schedules')
    .select(['name', 'last_refusal'])
    .where('enabled', '=', ENABLED)
    .where('last_refusal', 'is not', null)
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Names another next slot; false where `seen` is not what is there any more. */
export function moveSlot(tx: Tx, seen: ScheduleRow, next: number | null): Promise<boolean> {
  return hasChanged(
    tx.db
      .updateTable('schedules')
      .set({ next_at: next })
      .where('name', '=', seen.name)
      .where('created_at', '=', seen.created_at)
      .where('next_at', seen.next_at === null ? 'is' : '=', seen.next_at)
      .where('enabled', '=', ENABLED),
  );
}
