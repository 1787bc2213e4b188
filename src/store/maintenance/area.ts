import { sql } from 'kysely';
import type { StoreArea } from '../area.ts';
import { begins, leaseEnds } from '../stored-times.ts';
import { setCordon } from './cordon.ts';

export const MAINTENANCE: StoreArea = {
  /** The store stays cordoned until an operator has looked at it. */
  async restored(tx, { by }) {
    await setCordon(tx, by);
    await tx.db.updateTable('daemons').set({ stopped_at: tx.now }).where('stopped_at', 'is', null).execute();
  },
  times: [
    { name: 'leases of daemons', by: 'store', correct: leaseEnds('daemons', sql`stopped_at is null`) },
    {
      name: 'restarts that wait for jobs',
      by: 'store',
      correct: begins('restarts', { open: sql`state = 'draining'`, from: 'requested_at', ends: ['drain_deadline'] }),
    },
    {
      name: 'restarts whose program starts',
      by: 'store',
      correct: begins('restarts', { open: sql`state = 'executing'`, from: 'finished_at' }),
    },
  ],
};
