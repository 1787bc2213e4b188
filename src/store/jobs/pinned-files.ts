import type { Pinned } from '../../domain/approvals/pinned.ts';
import { toJson } from '../../lib/json.ts';
import { prepared } from '../engine/prepared.ts';
import { retagged } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, JobRow } from '../schema/schema.ts';
import { findJob } from './jobs.ts';

/** Jobs that wait for approval and whose files are read after their request was written. */

export async function noteUnread(tx: Tx, jobId: string): Promise<void> {
  await tx.db.insertInto('unread_files').values({ job_id: jobId }).execute();
}

const unread = prepared<{ after: string; limit: number }, JobRow>((db, value) =>
  db
    .selectFrom('unread_files')
    .innerJoin('jobs', 'jobs.id', 'unread_files.job_id')
    .selectAll('jobs')
    .where('unread_files.job_id', '>', value('after'))
    .orderBy('unread_files.job_id')
    .limit(value('limit')),
);

/** In the order of their ids, after `after`, at most `limit`. Every commit leads here: the list is mostly empty. */
export async function listUnread(db: Db, after: string, limit: number): Promise<JobRow[]> {
  return (await unread(db, { after, limit })).rows;
}

/** Replaces what a waiting job pins, if nothing did so since `before` was read. It needs no more reading. */
export async function keepPinned(tx: Tx, before: JobRow, pinned: Pinned): Promise<void> {
  const { id } = before;
  await forgetUnread(tx, id);
  const job = await findJob(tx.db, id);
  if (job?.state !== 'awaiting_approval' || job.pinned !== before.pinned) return;
  await tx.db
    .updateTable('jobs')
    .set(retagged(tx.ring, 'jobs', job, { pinned: toJson(pinned) }))
    .where('id', '=', id)
    .where('state', '=', 'awaiting_approval')
    .where('pinned', '=', before.pinned)
    .execute();
}

export async function forgetUnread(tx: Tx, jobId: string): Promise<void> {
  await tx.db.deleteFrom('unread_files').where('job_id', '=', jobId).execute();
}
