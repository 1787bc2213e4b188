import type { JobEvent, JobProgress, JobState } from '../../domain/jobs/job.ts';
import { encodeChunk } from '../../lib/chunks/chunk.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { type Json, toJson } from '../../lib/json.ts';
import { checkFence, type Fence } from './claims.ts';
import type { Tx } from '../engine/tx.ts';
import { RUNNING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import { insertRow } from '../engine/rows.ts';
import type { ChunkRow, Db } from '../schema/schema.ts';

type NewChunk = Omit<ChunkRow, 'job_id' | 'at'>;

/** The sequence number of the last stored event; the first event of a job is its birth, which is never stored. */
export const FIRST_SEQ = 1;

/** A chunk has 48 bits for it. Only somebody who writes the database reaches it. */
const SEQ_MAX = 2 ** 48 - 1;

const newestChunk = prepared<{ jobId: string }, Pick<ChunkRow, 'first_seq' | 'last_seq'>>((db, value) =>
  db
    .selectFrom('job_chunks')
    .select(['first_seq', 'last_seq'])
    .where('job_id', '=', value('jobId'))
    .orderBy('first_seq', 'desc')
    .limit(1),
);

export async function lastSeq(db: Db, jobId: string): Promise<number> {
  const [row] = (await newestChunk(db, { jobId })).rows;
  return row === undefined ? FIRST_SEQ : Math.max(FIRST_SEQ, row.first_seq, row.last_seq);
}

/** Appends a chunk without asking who owns the job: for moves that are guarded by the state themselves. */
export function insertChunk(tx: Tx, jobId: string, chunk: NewChunk): void {
  tx.later(insertRow(tx.db, 'job_chunks', { job_id: jobId, at: tx.now, ...chunk }));
}

/**
 * Appends the event of a move to `state`, in the transaction of that move; answers its sequence number. The move counts
 * without it where the output has no place left: else such a row would hold up those of the same write.
 */
export async function appendState(tx: Tx, jobId: string, state: JobState, exitCode: number | null): Promise<number> {
  const seq = (await lastSeq(tx.db, jobId)) + 1;
  if (seq > SEQ_MAX) return seq;
  const event: JobEvent = { seq, at: rfc3339(tx.now), type: 'state', state, exit_code: exitCode };
  insertChunk(tx, jobId, { first_seq: seq, last_seq: seq, raw_bytes: 0, data: encodeChunk([event]) });
  return seq;
}

const ownedRow = prepared<Fence, object>((db, value, dialect) =>
  // Locked, so that the job cannot end between this read and the commit.
  dialect.holdRows(
    db
      .selectFrom('jobs')
      .select('id')
      .where('id', '=', value('jobId'))
      .where('state', '=', RUNNING)
      .where('daemon_id', '=', value('daemonId'))
      .where('lease_generation', '=', value('generation')),
  ),
);

/** Whether the run still owns its job; if so, the job is locked until the transaction ends. */
export async function isOwned(tx: Tx, fence: Fence): Promise<boolean> {
  return (await ownedRow(tx.db, fence)).rows.length > 0;
}

/** Whether this very chunk of a job is stored. */
async function isStored(db: Db, jobId: string, { first_seq, last_seq, raw_bytes }: NewChunk): Promise<boolean> {
  const found = db.selectFrom('job_chunks').select('job_id').where('job_id', '=', jobId);
  return (
    (await found
      .where('first_seq', '=', first_seq)
      .where('last_seq', '=', last_seq)
      .where('raw_bytes', '=', raw_bytes)
      .executeTakeFirst()) !== undefined
  );
}

/**
 * Appends output of a run. False, and nothing written, when the run no longer owns its job. `again` for a chunk whose
 * write failed before: the commit may have succeeded although its answer was lost.
 */
export async function appendOutput(tx: Tx, fence: Fence, chunk: NewChunk, again = false): Promise<boolean> {
  checkFence(fence);
  if (again && (await isStored(tx.db, fence.jobId, chunk))) return true;
  if (!(await isOwned(tx, fence))) return false;
  insertChunk(tx, fence.jobId, chunk);
  return true;
}

const setProgress = prepared<{ jobId: string; progress: Json<JobProgress> }, unknown>((db, value) =>
  db
    .updateTable('jobs')
    .set({ progress: value('progress') })
    .where('id', '=', value('jobId')),
);

/** Records what a job is at, for a run that owns it. */
export async function recordProgress(tx: Tx, jobId: string, progress: JobProgress): Promise<void> {
  await setProgress(tx.db, { jobId, progress: toJson(progress) });
}

/** The chunks that hold events after `after`, oldest first, at most `limit`. */
export async function chunksAfter(db: Db, jobId: string, after: number, limit: number): Promise<ChunkRow[]> {
  // The chunk that holds `after` itself may hold the next event too: it is the last that begins at or before it.
  const start = await db
    .selectFrom('job_chunks')
    .select('first_seq')
    .where('job_id', '=', jobId)
    .where('first_seq', '<=', after + 1)
    .orderBy('first_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return db
    .selectFrom('job_chunks')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('first_seq', '>=', start?.first_seq ?? 0)
    .where('last_seq', '>', after)
    .orderBy('first_seq')
    .limit(limit)
    .execute();
}
