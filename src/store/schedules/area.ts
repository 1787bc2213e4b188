import { namedInFew, type StoreArea } from '../area.ts';

export const SCHEDULES: StoreArea = {
  /** The daemon computes the next slots of these, from then on. */
  async restored(tx) {
    const now = await tx.dialect.clock(tx.db, tx.now);
    await tx.db.updateTable('schedules').set({ next_at: null }).where('next_at', '<=', now).execute();
  },
  keepsJobs: [namedInFew('schedules.last_job_id')],
};
