import { sql } from 'kysely';
import { RETRY_WAIT_MAX_MS } from '../../domain/time-limits.ts';
import { namedIn, RESTORED, type StoreArea } from '../area.ts';
import { begins, comesWithin } from '../stored-times.ts';

export const NOTIFY: StoreArea = {
  /** No message is sent. */
  async restored(tx) {
    const given = await tx.db
      .updateTable('deliveries')
      .set({ state: 'dead', failure: RESTORED, settled_at: tx.now })
      .where('state', '=', 'waiting')
      .executeTakeFirst();
    await tx.db
      .updateTable('pages')
      .set({ state: 'done', reason: RESTORED })
      .where('state', 'in', ['new', 'sending'])
      .execute();
    // No message follows about the outcome of a request that was announced before.
    await tx.db.updateTable('pages').set({ followed: 1 }).where('followed', '=', 0).execute();
    await tx.db.updateTable('armed_jobs').set({ done_at: tx.now }).where('done_at', 'is', null).execute();
    return { deliveries: Number(given.numUpdatedRows) };
  },
  keepsJobs: [namedIn('armed_jobs.job_id', 'jobs', sql`armed_jobs.done_at is null`)],
  belongsToJob: [{ table: 'armed_jobs' }],
  outlives: ['pages.job_id'],
  times: [
    {
      name: 'announcements of approvals',
      by: 'store',
      correct: begins('pages', { open: sql`kind = 'approval' and followed = 0`, from: 'created_at' }),
    },
    {
      name: 'deliveries',
      by: 'machine',
      correct: comesWithin('deliveries', {
        open: sql`state = 'waiting'`,
        end: 'next_at',
        maxMs: RETRY_WAIT_MAX_MS,
        waitMs: 0,
      }),
    },
  ],
};
