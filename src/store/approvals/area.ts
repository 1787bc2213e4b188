import { sql } from 'kysely';
import { CLOCKS_APART_MS } from '../../lib/clock.ts';
import { namedIn, RESTORED, type StoreArea } from '../area.ts';
import { PENDING } from '../engine/literals.ts';
import { retagged } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { movedTo } from '../stored-times.ts';

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
  times: [{ name: 'approvals', by: 'store', correct: correctApprovals }],
};

async function correctApprovals({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .where('state', '=', PENDING)
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .orderBy('id')
    .execute();
  for (const row of rows) {
    const moved = movedTo(now, row);
    const open = db.updateTable('approvals').where('id', '=', row.id).where('state', '=', PENDING);
    await open.set(retagged(ring, 'approvals', row, moved)).execute();
    const job = db.updateTable('jobs').where('id', '=', row.job_id).where('expires_at', '=', row.expires_at);
    await job.set({ expires_at: moved.expires_at }).execute();
  }
  return rows.length;
}
