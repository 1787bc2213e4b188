import { OPEN_STATES, type JobState } from '../../domain/jobs/job.ts';
import { COUNTED_MAX, type OpenJobs } from '../../domain/jobs/open-jobs.ts';
import type { Db } from '../schema/schema.ts';

/** Reads a bounded number of index entries, however many jobs there are. */
export async function readOpenJobs(db: Db): Promise<OpenJobs> {
  const oldest = db.selectFrom('jobs').select('created_at').where('state', '=', 'queued').orderBy('id').limit(1);
  const counts = await Promise.all(OPEN_STATES.map(async (state) => ({ state, count: await countUpTo(db, state) })));
  return { counts, oldestQueuedAt: (await oldest.executeTakeFirst())?.created_at ?? null };
}

async function countUpTo(db: Db, state: JobState): Promise<number> {
  const row = await db
    .selectFrom((eb) => eb.selectFrom('jobs').select('id').where('state', '=', state).limit(COUNTED_MAX).as('some'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}
