import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { JobState } from '../../domain/jobs/job.ts';
import { PLAN_MAKERS } from '../../domain/kinds.ts';
import type { Db, JobRow, Schema } from '../schema/schema.ts';

/** Jobs that one redrive looks at: the newest ones, so that what happened last is never out of its reach. */
const REDRIVE_MAX = 10_000;

export interface RedriveSelection {
  readonly states: readonly JobState[];
  /** Only these jobs; null for all. */
  readonly ids: readonly string[] | null;
}

/** The selected jobs that may be queued again, oldest first: those without one of the EXCLUSIONS. */
export function listRedrivable(db: Db, selection: RedriveSelection): Promise<JobRow[]> {
  return selected(db, selection, (eb) => eb.not(eb.or(EXCLUSIONS.map(({ applies }) => applies(eb)))));
}

/** The selected jobs that are never queued again, oldest first, each with the first reason that applies. */
export async function listRedriveExclusions(
  db: Db,
  selection: RedriveSelection,
): Promise<{ readonly id: string; readonly reason: string }[]> {
  const excluded = new Map<string, string>();
  for (const { applies, reason } of EXCLUSIONS)
    for (const { id } of await selected(db, selection, applies)) if (!excluded.has(id)) excluded.set(id, reason);
  return [...excluded].map(([id, reason]) => ({ id, reason })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The job that a redrive of `oldId` made, if one did. */
export function findRedrive(db: Db, oldId: string): Promise<{ id: string } | undefined> {
  return db.selectFrom('jobs').select('id').where('redrive_of', '=', oldId).executeTakeFirst();
}

type Filter = (eb: ExpressionBuilder<Schema, 'jobs'>) => Expression<SqlBool>;

/** Jobs that no redrive queues again, whatever their kind. */
const EXCLUSIONS: readonly { readonly reason: string; readonly applies: Filter }[] = [
  { reason: 'step of a workflow; use svc workflow run with --from', applies: (eb) => eb('trigger', '=', 'workflow') },
  // A job that needed an approval needs a new one when it is repeated.
  { reason: 'needed an approval; request it again', applies: (eb) => eb('initial_state', '!=', 'queued') },
  // A saved plan runs once, also one that policy let through.
  {
    reason: 'applied a saved plan, which runs once; make a new plan',
    applies: (eb) => eb.and([eb('plan_artifact_id', 'is not', null), eb('kind', 'not in', PLAN_MAKERS)]),
  },
  {
    reason: 'was queued again; the new job is deleted by now',
    applies: (eb) =>
      eb.exists(
        eb.selectFrom('redriven_jobs').select('redriven_jobs.job_id').whereRef('redriven_jobs.job_id', '=', 'jobs.id'),
      ),
  },
];

async function selected(db: Db, { states, ids }: RedriveSelection, filter: Filter): Promise<JobRow[]> {
  let query = db.selectFrom('jobs').selectAll().where('state', 'in', states).where(filter);
  if (ids !== null) query = query.where('id', 'in', ids);
  return (await query.orderBy('id', 'desc').limit(REDRIVE_MAX).execute()).toReversed();
}
