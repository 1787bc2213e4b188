import { sql } from 'kysely';
import {
  type Availability,
  availability,
  DAYS_READ,
  DETAILED_DAYS_READ,
  type StoredDay,
  type Uptime,
  uptimeOf,
} from '../../domain/checks/sweep/availability.ts';
import {
  addGathered,
  DAY_MS,
  dayOf,
  decodeDay,
  emptyDay,
  encodeDay,
  type Gathered,
} from '../../domain/checks/sweep/day.ts';
import { totalWithNew } from '../engine/counts.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { CheckDayRow, Db } from '../schema/schema.ts';

/** The history of targets, a row for each day. */

type DayKey = Pick<CheckDayRow, 'check_name' | 'name' | 'day'>;

const dayRow = prepared<DayKey, Pick<CheckDayRow, 'slots'>>((db, value, dialect) =>
  dialect.holdRows(
    db
      .selectFrom('check_days')
      .select('slots')
      .where('check_name', '=', value('check_name'))
      .where('name', '=', value('name'))
      .where('day', '=', value('day')),
  ),
);

const addToDay = prepared<CheckDayRow, unknown>((db, value) =>
  db
    .insertInto('check_days')
    .values({
      check_name: value('check_name'),
      name: value('name'),
      day: value('day'),
      up: value('up'),
      down: value('down'),
      missed: value('missed'),
      slots: value('slots'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['check_name', 'name', 'day'])
        .doUpdateSet({
          up: totalWithNew('check_days', 'up'),
          down: totalWithNew('check_days', 'down'),
          missed: totalWithNew('check_days', 'missed'),
          slots: sql.ref('excluded.slots'),
        }),
    ),
);

/** Adds what was observed of a target to its days. */
export async function addHistory(tx: Tx, check: string, target: string, gathered: readonly Gathered[]): Promise<void> {
  for (const [day, ofDay] of Map.groupBy(gathered, ({ slot }) => dayOf(slot))) {
    const key = { check_name: check, name: target, day };
    const stored = (await dayRow(tx.db, key)).rows[0]?.slots ?? null;
    const slots = encodeDay(addGathered(stored === null ? emptyDay() : decodeDay(stored), ofDay));
    const sum = (reading: 'up' | 'down' | 'missed'): number => ofDay.reduce((total, each) => total + each[reading], 0);
    tx.later(addToDay(tx.db, { ...key, up: sum('up'), down: sum('down'), missed: sum('missed'), slots }));
  }
}

const removeOf = prepared<Omit<DayKey, 'day'>, unknown>((db, value) =>
  db
    .deleteFrom('check_days')
    .where('check_name', '=', value('check_name'))
    .where('name', '=', value('name'))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('check_targets')
            .select('name')
            .where('check_name', '=', value('check_name'))
            .where('name', '=', value('name')),
        ),
      ),
    ),
);

/** Removes the history of a target that is not in its check any more. */
export function removeHistory(tx: Tx, check: string, target: string): void {
  tx.later(removeOf(tx.db, { check_name: check, name: target }));
}

/** The history of each target of a check that has one, by the name of the target. */
export async function readAvailability(db: Db, check: string, now: number): Promise<ReadonlyMap<string, Availability>> {
  const byTarget = Map.groupBy(await storedDays(db, check, now), ({ name }) => name);
  return new Map([...byTarget].map(([name, days]) => [name, availability(days, now)]));
}

/** The shares of a check, of the observations of all its targets together. */
export async function readUptime(db: Db, check: string, now: number): Promise<Uptime> {
  return uptimeOf(await storedDays(db, check, now), now);
}

async function storedDays(db: Db, check: string, now: number): Promise<(StoredDay & { readonly name: string })[]> {
  const today = Math.floor(now / DAY_MS);
  const rows = await listDays(db, check, today - DAYS_READ, today - DETAILED_DAYS_READ);
  return rows.map((row) => ({ ...row, detail: row.slots === null ? null : decodeDay(row.slots) }));
}

/** The days of a check's targets from `day` on. The slots are read from `detailedFrom` on. */
export function listDays(db: Db, check: string, day: number, detailedFrom: number): Promise<CheckDayRow[]> {
  return db
    .selectFrom('check_days')
    .select(['check_name', 'name', 'day', 'up', 'down', 'missed'])
    .select((eb) => eb.case().when('day', '>=', detailedFrom).then(eb.ref('slots')).else(null).end().as('slots'))
    .where('check_name', '=', check)
    .where('day', '>=', day)
    .orderBy('name')
    .orderBy('day')
    .execute();
}

/** Of at most `limit` days before `day`, keeps the counts only. True if there may be more. */
export async function dropSlots(tx: Tx, day: number, limit: number): Promise<boolean> {
  await tx.dialect.lockKey(tx.db, 'retention');
  const some = tx.db
    .selectFrom('check_days')
    .select(['check_name', 'name', 'day'])
    .where('day', '<', day)
    .where('slots', 'is not', null)
    .limit(limit);
  const { numUpdatedRows } = await tx.db
    .updateTable('check_days')
    .set({ slots: null })
    .where((eb) => eb(eb.refTuple('check_name', 'name', 'day'), 'in', some.$asTuple('check_name', 'name', 'day')))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) >= limit;
}

/** Removes at most `limit` days before `day`. Returns how many. */
export async function deleteDays(tx: Tx, day: number, limit: number): Promise<number> {
  await tx.dialect.lockKey(tx.db, 'retention');
  const some = tx.db.selectFrom('check_days').select(['check_name', 'name', 'day']).where('day', '<', day).limit(limit);
  const { numDeletedRows } = await tx.db
    .deleteFrom('check_days')
    .where((eb) => eb(eb.refTuple('check_name', 'name', 'day'), 'in', some.$asTuple('check_name', 'name', 'day')))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** The targets that have a history and are gone, at most `limit`. */
export function goneTargets(db: Db, limit: number): Promise<Pick<CheckDayRow, 'check_name' | 'name'>[]> {
  return db
    .selectFrom('check_days')
    .select(['check_name', 'name'])
    .distinct()
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('check_targets')
            .select('check_targets.name')
            .whereRef('check_targets.check_name', '=', 'check_days.check_name')
            .whereRef('check_targets.name', '=', 'check_days.name'),
        ),
      ),
    )
    .limit(limit)
    .execute();
}
