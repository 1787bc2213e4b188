import { sql } from 'kysely';
import { namedIn, RESTORED, type StoreArea } from '../area.ts';

export const APPROVALS: StoreArea = {
  async restored(tx) {
    const ended = await tx.db
      .updateTable('approvals')
      .set({ state: 'expired', decided_at: tx.now, reason: RESTORED })
      .where('state', '=', 'pending')
      .executeTakeFirst();
    return { approvals: Number(ended.numUpdatedRows) };
  },
  keepsJobs: [namedIn('approvals.job_id', 'jobs', sql`approvals.state = 'pending'`)],
  keepsEvents: [namedIn('approvals.alert', 'events')],
  belongsToJob: [{ table: 'approvals' }],
  async beforeJobsGo({ db }, ids) {
    const asked = sql`select id from approvals where job_id in (${ids})`;
    await sql`delete from decision_links where approval_id in (${asked})`.execute(db);
  },
};
