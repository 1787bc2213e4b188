import type { Tx } from '../engine/tx.ts';
import type { Db } from '../schema/schema.ts';

/** Who ordered a job follows it: at most one row a job, which counts until its time, by the store's clock. */

/** A client can vanish without a word: this long after the order, or after the last renewal. */
const FOLLOWED_MS = 60_000;

/** From now on, or again. */
export async function beginFollow(tx: Tx, jobId: string): Promise<void> {
  const until = tx.now + FOLLOWED_MS;
  await tx.db
    .insertInto('job_follows')
    .values({ job_id: jobId, until })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet({ until }))
    .execute();
}

/** Whether it is followed at `now`. */
export async function isFollowed(db: Db, jobId: string, now: number): Promise<boolean> {
  const row = db.selectFrom('job_follows').select('job_id').where('job_id', '=', jobId).where('until', '>', now);
  return (await row.executeTakeFirst()) !== undefined;
}
