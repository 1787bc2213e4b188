import { sql } from 'kysely';
import { namedIn, namedInFew, type StoreArea } from '../area.ts';

export const WORKSPACES: StoreArea = {
  async restored({ db }) {
    await db.updateTable('workspaces').set({ drift: 'unknown', drift_checked_at: null }).execute();
  },
  keepsJobs: [
    namedIn('states.job_id', 'jobs'),
    // An unused saved plan, or one that another job names.
    namedIn(
      'artifacts.job_id',
      'jobs',
      sql`artifacts.consumed_by is null or exists
        (select 1 from jobs as used where used.plan_artifact_id = artifacts.id and used.id <> jobs.id)`,
    ),
    namedInFew('workspaces.last_plan_job_id'),
    namedInFew('workspaces.last_apply_job_id'),
    namedInFew('workspaces.moved_by_job'),
  ],
  belongsToJob: [{ table: 'artifacts' }],
};
