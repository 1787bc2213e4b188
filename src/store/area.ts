import { type RawBuilder, sql } from 'kysely';
import type { Tx } from './engine/tx.ts';
import type { JobRow, Schema, Table } from './schema/schema.ts';
import type { StoredTime } from './stored-times.ts';

/** `states.job_id`: a column by its table. */
type Column = { [T in Table]: `${T}.${keyof Schema[T] & string}` }[Table];

/** Why a job or an event is kept: while `holds`, which reads this column. */
interface Keeping {
  readonly column: Column;
  readonly holds: RawBuilder<boolean>;
}

/** A table with rows of a job, in a column `job_id`. */
export interface JobRows {
  readonly table: Table;
  /** The rest of its key, where the rows of a job may be many or large: they are deleted in parts. */
  readonly partsBy?: string;
}

/** What a restored store ended. */
export type Settled = Readonly<
  Record<'interrupted' | 'cancelled' | 'approvals' | 'workflow_runs' | 'deliveries', number>
>;

export interface Restoring {
  /** The identity of who restores. */
  readonly by: string;
  /** Writes what a kind of job leaves when it is interrupted. */
  readonly interrupted: (tx: Tx, job: JobRow) => Promise<void>;
}

/** What the tables of an area need beside its own queries; `areas.ts` lists the areas. */
export interface StoreArea {
  /** Brings a restored store to rest: rows that are open end, and what is due at a time is not caught up with. */
  readonly restored?: (tx: Tx, restoring: Restoring) => Promise<Partial<Settled> | void>;
  /** What keeps an old job. */
  readonly keepsJobs?: readonly Keeping[];
  /** What keeps an old event. */
  readonly keepsEvents?: readonly Keeping[];
  /** What is deleted with an old job. */
  readonly belongsToJob?: readonly JobRows[];
  /** What else follows from the deletion of these jobs. It comes before the deletion of what belongs to them. */
  readonly beforeJobsGo?: (tx: Tx, ids: RawBuilder<unknown>) => Promise<void>;
  /** The stored times that decide something: each is a row of `docs/explanation/clocks.md`. */
  readonly times?: readonly StoredTime[];
  /** Why the row `name` of a table of another area must not be removed, for people; null where it may. */
  readonly needs?: (tx: Tx, table: Table, name: string) => Promise<string | null>;
  /** Columns that may name a job or an event that was deleted. */
  readonly outlives?: readonly Column[];
}

/** Written into rows that end because the store was restored. */
export const RESTORED = 'restored from backup';
/** The event of an end that is not reported. */
export const UNREPORTED = '';

/** Some row of the table names it. The column has an index; `when` repeats the condition of a partial one. */
export function namedIn(column: Column, named: 'jobs' | 'events', when: RawBuilder<boolean> = sql`1 = 1`): Keeping {
  const [table = ''] = column.split('.');
  return {
    column,
    holds: sql`exists (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${sql.ref(`${named}.id`)}
      and (${when}))`,
  };
}

/** As `namedIn`, for a table with few rows, which are read once for many jobs. */
export function namedInFew(column: Column, when: RawBuilder<boolean> = sql`1 = 1`): Keeping {
  const [table = ''] = column.split('.');
  return {
    column,
    holds: sql`jobs.id in (select ${sql.ref(column)} from ${sql.table(table)} where ${sql.ref(column)} is not null
      and (${when}))`,
  };
}
