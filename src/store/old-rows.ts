import { type RawBuilder, sql } from 'kysely';
import { idFloor } from '../lib/id.ts';
import { OPEN_STATES } from '../domain/jobs/job.ts';
import type { JobRows } from './area.ts';
import { STORE_AREAS } from './areas.ts';
import type { Tx } from './engine/tx.ts';
import type { Db } from './schema/schema.ts';

/** Jobs and events that are old and that nothing names any more. Their ids begin with their time. */

/** A table whose rows are deleted by their age. */
export interface AgedTable {
  readonly name: 'jobs' | 'events';
  readonly prefix: 'job' | 'evt';
  /** Whether a row of the table may be deleted, apart from those that are younger than `before`. */
  readonly isOver: (before: number) => RawBuilder<boolean>;
  /** A row for which one of these holds is kept. */
  readonly keptBy: readonly RawBuilder<boolean>[];
  /** The key that writers hold while they make a row of this table name an old one. */
  readonly namedUnder: string | null;
  /** Rows that belong to one of this table, and may be many or large. */
  readonly parts: readonly Parts[];
  /** Deletes these rows, and the few others that belong to them. */
  readonly remove: (tx: Tx, ids: RawBuilder<unknown>) => Promise<void>;
}

type Parts = Required<JobRows>;

const BELONGINGS = STORE_AREAS.flatMap((area) => area.belongsToJob ?? []);

export const AGED = {
  jobs: {
    name: 'jobs',
    prefix: 'job',
    isOver: (before) => sql`jobs.finished_at < ${before} and jobs.outcome_event_id is not null
      and jobs.state not in (${sql.join(OPEN_STATES.map((state) => sql.lit(state)))})`,
    keptBy: STORE_AREAS.flatMap(({ keepsJobs = [] }) => keepsJobs.map(({ holds }) => holds)),
    namedUnder: 'redrive',
    parts: BELONGINGS.filter((rows): rows is Parts => rows.partsBy !== undefined),
    async remove(tx, ids) {
      for (const { beforeJobsGo } of STORE_AREAS) await beforeJobsGo?.(tx, ids);
      for (const { table, partsBy } of BELONGINGS)
        if (partsBy === undefined) await sql`delete from ${sql.table(table)} where job_id in (${ids})`.execute(tx.db);
      await sql`delete from jobs where id in (${ids})`.execute(tx.db);
    },
  },
  events: {
    name: 'events',
    prefix: 'evt',
    isOver: (before) => sql`events.received_at < ${before}`,
    keptBy: STORE_AREAS.flatMap(({ keepsEvents = [] }) => keepsEvents.map(({ holds }) => holds)),
    namedUnder: null,
    parts: [],
    remove: async (tx, ids) => void (await sql`delete from events where id in (${ids})`.execute(tx.db)),
  },
} as const satisfies Record<string, AgedTable>;

/** Ids of at most `IDS_MAX` rows after `after` that were made before `before`, the oldest first. */
export async function idsBetween(
  db: Db,
  { name, prefix }: AgedTable,
  after: string,
  before: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom(name)
    .select('id')
    .where('id', '>', after)
    .where('id', '<', idFloor(prefix, before))
    .orderBy('id')
    .limit(IDS_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those of the rows that may be deleted. */
export async function removableAmong(
  db: Db,
  { name, isOver, keptBy }: AgedTable,
  ids: readonly string[],
  before: number,
): Promise<string[]> {
  const kept = sql.join(
    keptBy.map((reason) => sql`(${reason})`),
    sql` or `,
  );
  const { rows } = await sql<{ id: string }>`select id from ${sql.table(name)} where id in (${idList(ids)})
    and ${isOver(before)} and not (${kept})`.execute(db);
  return rows.map(({ id }) => id);
}

/** Deletes at most `limit` rows that belong to these jobs; whether there may be more. */
export async function removeSomeOf(
  tx: Tx,
  { table, partsBy }: Parts,
  ids: readonly string[],
  limit: number,
): Promise<boolean> {
  const columns = sql`job_id, ${sql.ref(partsBy)}`;
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where (${columns}) in
    (select ${columns} from ${sql.table(table)} where job_id in (${idList(ids)}) limit ${limit})`.execute(tx.db);
  return Number(numAffectedRows ?? 0) >= limit;
}

export async function removeRows(tx: Tx, table: AgedTable, ids: readonly string[]): Promise<void> {
  await table.remove(tx, idList(ids));
}

/** Ids that one statement takes. */
const IDS_MAX = 100;

/** Always as many values, so that the database prepares each statement once. */
function idList(ids: readonly string[]): RawBuilder<unknown> {
  const last = ids.at(-1) ?? '';
  return sql.join([...ids, ...Array.from({ length: Math.max(0, IDS_MAX - ids.length) }, () => last)]);
}

/** How many rows are from before `before`, kept ones included; counts no further than `limit`. */
export async function countOld(db: Db, { name, prefix }: AgedTable, before: number, limit: number): Promise<number> {
  const some = db.selectFrom(name).select('id').where('id', '<', idFloor(prefix, before)).limit(limit).as('some');
  const row = await db
    .selectFrom(some)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}
