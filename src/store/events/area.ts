import { sql } from 'kysely';
import type { StoreArea } from '../area.ts';
import { begins, EVERY_ROW } from '../stored-times.ts';

export const EVENTS: StoreArea = {
  keepsEvents: [
    { column: 'events.job_id', holds: sql`exists (select 1 from jobs where jobs.id = events.job_id)` },
    {
      column: 'events.approval_id',
      holds: sql`exists (select 1 from approvals where approvals.id = events.approval_id)`,
    },
  ],
  async beforeJobsGo({ db }, ids) {
    await sql`delete from causes where subject in (select 'job:' || id from jobs where id in (${ids}))`.execute(db);
  },
  times: [
    {
      name: 'last messages of webhooks',
      by: 'store',
      correct: begins('webhooks', { open: EVERY_ROW, from: 'last_heard_at' }),
    },
  ],
};
