import { type RawBuilder, sql } from 'kysely';
import { idFloor } from '../../lib/id.ts';
import { OPEN_STATES } from '../../domain/jobs/job.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

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
  /** Tables whose rows belong to one of this table, and may be many or large. */
  readonly large: readonly ('job_chunks' | 'host_results' | 'playbook_hosts')[];
  /** Deletes these rows, and the few others that belong to them. */
  readonly remove: (tx: Tx, ids: RawBuilder<unknown>) => Promise<void>;
}

const EVENTS: AgedTable = {
  name: 'events',
  prefix: 'evt',
  isOver: (before) => sql`events.received_at < ${before}`,
  keptBy: [
    sql`exists (select 1 from jobs where jobs.id = events.job_id)`,
    sql`exists (select 1 from jobs where jobs.outcome_event_id = events.id)`,
    sql`exists (select 1 from approvals where approvals.id = events.approval_id)`,
    sql`exists (select 1 from approvals where approvals.alert = events.id)`,
    sql`exists (select 1 from workflow_runs as run where run.event_id = events.id)`,
    sql`exists (select 1 from workflow_runs as run where run.outcome_event_id = events.id)`,
  ],
  namedUnder: null,
  large: [],
  remove: async (tx, ids) => void (await sql`delete from events where id in (${ids})`.execute(tx.db)),
};

/** Tables with a few small rows of a job. */
const BELONGINGS = [
  'approvals',
  'armed_jobs',
  'playbook_runs',
  'artifacts',
  'redriven_jobs',
  'unread_files',
  'job_partials',
] as const;

const JOBS: AgedTable = {
  name: 'jobs',
  prefix: 'job',
  isOver: (before) => sql`jobs.finished_at < ${before} and jobs.outcome_event_id is not null
    and jobs.state not in (${sql.join(OPEN_STATES.map((state) => sql.lit(state)))})`,
  keptBy: [
    // The old job of a redrive or rerun, and one that is still to be repeated.
    sql`exists (select 1 from jobs as again where again.redrive_of = jobs.id)`,
    sql`exists (select 1 from jobs as again where again.rerun_of = jobs.id)`,
    sql`jobs.state = 'interrupted' and not exists (select 1 from redriven_jobs as done where done.job_id = jobs.id)`,
    sql`exists (select 1 from approvals where approvals.job_id = jobs.id and approvals.state = 'pending')`,
    sql`exists (select 1 from armed_jobs as armed where armed.job_id = jobs.id and armed.done_at is null)`,
    sql`exists (select 1 from workflow_steps as step where step.job_id = jobs.id and step.job_id is not null
      and step.taken_from is null)`,
    sql`exists (select 1 from states where states.job_id = jobs.id)`,
    // An unused saved plan, or one that another job names.
    sql`exists (select 1 from artifacts as plan where plan.job_id = jobs.id and (plan.consumed_by is null
      or exists (select 1 from jobs as used where used.plan_artifact_id = plan.id and used.id <> jobs.id)))`,
    ...['last_plan_job_id', 'last_apply_job_id', 'moved_by_job'].map(
      (column) =>
        sql<boolean>`jobs.id in (select ${sql.ref(column)} from workspaces where ${sql.ref(column)} is not null)`,
    ),
    sql`jobs.id in (select last_job_id from schedules where last_job_id is not null)`,
    sql`jobs.id in (select job_id from backups where removed_at is null)`,
  ],
  namedUnder: 'redrive',
  large: ['job_chunks', 'host_results', 'playbook_hosts'],
  async remove({ db }, ids) {
    // The older job stays a while: it must not be queued a second time.
    await sql`insert into redriven_jobs (job_id) select redrive_of from jobs where id in (${ids})
      and redrive_of is not null on conflict do nothing`.execute(db);
    const asked = sql`select id from approvals where job_id in (${ids})`;
    await sql`delete from decision_links where approval_id in (${asked})`.execute(db);
    for (const table of BELONGINGS) await sql`delete from ${sql.table(table)} where job_id in (${ids})`.execute(db);
    await sql`delete from causes where subject in (select 'job:' || id from jobs where id in (${ids}))`.execute(db);
    await sql`delete from jobs where id in (${ids})`.execute(db);
  },
};

export const AGED = { jobs: JOBS, events: EVENTS } as const;

/** Ids of at most `limit` rows after `after` that were made before `before`, the oldest first. */
export async function idsBetween(
  db: Db,
  { name, prefix }: AgedTable,
  after: string,
  before: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom(name)
    .select('id')
    .where('id', '>', after)
    .where('id', '<', idFloor(prefix, before))
    .orderBy('id')
    .limit(limit)
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
  table: AgedTable['large'][number],
  ids: readonly string[],
  limit: number,
): Promise<boolean> {
  const key = { job_chunks: 'first_seq', host_results: 'host', playbook_hosts: 'first' }[table];
  const columns = sql`job_id, ${sql.ref(key)}`;
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where (${columns}) in
    (select ${columns} from ${sql.table(table)} where job_id in (${idList(ids)}) limit ${limit})`.execute(tx.db);
  return Number(numAffectedRows ?? 0) >= limit;
}

export async function removeRows(tx: Tx, table: AgedTable, ids: readonly string[]): Promise<void> {
  await table.remove(tx, idList(ids));
}

/** Ids that one statement takes. */
export const IDS_MAX = 100;

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
