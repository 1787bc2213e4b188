import type { StoreArea } from '../area.ts';
import { setCordon } from './cordon.ts';

export const MAINTENANCE: StoreArea = {
  /** The store stays cordoned until an operator has looked at it. */
  async restored(tx, { by }) {
    await setCordon(tx, by);
    await tx.db.updateTable('daemons').set({ stopped_at: tx.now }).where('stopped_at', 'is', null).execute();
  },
};
