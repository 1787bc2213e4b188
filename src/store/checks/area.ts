import { sql } from 'kysely';
import { CLOCKS_APART_MS } from '../../lib/clock.ts';
import type { StoreArea } from '../area.ts';
import { countedUp } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import { begins, EVERY_ROW, leaseEnds } from '../stored-times.ts';

export const CHECKS: StoreArea = {
  times: [
    { name: 'snoozes', by: 'store', correct: correctSnoozes },
    { name: 'leases of probes', by: 'store', correct: leaseEnds('check_shards', EVERY_ROW) },
    { name: 'leases of probing daemons', by: 'store', correct: leaseEnds('check_sweepers', EVERY_ROW) },
    {
      name: 'reports of probing daemons',
      by: 'store',
      correct: begins('check_sweepers', { open: EVERY_ROW, from: 'reported_at' }),
    },
  ],
};

/** The beginning of a snooze is not stored: it is at most as old as the last change of its check. */
async function correctSnoozes({ db }: Tx, now: number): Promise<number> {
  const changedAhead = db
    .selectFrom('checks')
    .select('name')
    .where('updated_at', '>', now + CLOCKS_APART_MS);
  const { numUpdatedRows: rows } = await db
    .updateTable('check_targets')
    .set({
      snoozed_until: sql<number>`snoozed_until - (select updated_at - ${now} from checks where name = check_name)`,
    })
    .where('snoozed_until', '>', now)
    .where('check_name', 'in', changedAhead)
    .executeTakeFirst();
  // Daemons read the targets of a check again when its revision is another one.
  await db
    .updateTable('checks')
    .set({ updated_at: now, revision: countedUp('revision') })
    .where('name', 'in', changedAhead)
    .execute();
  return Number(rows);
}
