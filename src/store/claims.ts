import type { FinalState, JobState } from '../domain/job.ts';
import type { Tx } from './gate.ts';
import { releaseKey } from './jobs.ts';
import type { Db, JobRow } from './schema.ts';

/** Names one claim of one job. A write that carries it changes nothing once the claim was lost. */
export interface Fence {
  readonly jobId: string;
  readonly daemonId: string;
  readonly generation: number;
}

export function fenceOf(row: JobRow): Fence {
  return { jobId: row.id, daemonId: row.daemon_id ?? '', generation: row.lease_generation };
}

/**
 * Claims up to `limit` jobs in the order they were queued. A partial index holds exactly the claimable rows, so the
 * cost does not grow with the queue; a partial unique index guards that one job of a key runs at a time.
 */
export async function claimJobs(tx: Tx, daemonId: string, limit: number): Promise<JobRow[]> {
  const ready = tx.dialect.skipLocked(
    tx.db.selectFrom('jobs').select('id').where('state', '=', 'queued').where('blocked', '=', 0).orderBy('id').limit(limit),
  );
  const rows = await tx.db
    .updateTable('jobs')
    .set((eb) => ({
      state: 'running' as const,
      daemon_id: daemonId,
      started_at: tx.now,
      lease_generation: eb('lease_generation', '+', 1),
    }))
    .where('state', '=', 'queued')
    .where('id', 'in', ready)
    .returningAll()
    .execute();
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Remembers the first process of the run, so that another daemon can end the tree. False when the job was lost. */
export async function recordLeader(tx: Tx, fence: Fence, leader: { pid: number; startTicks: number }): Promise<boolean> {
  const result = await owned(tx, fence).set({ leader_pid: leader.pid, leader_start: leader.startTicks }).executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

export async function recordProgress(tx: Tx, fence: Fence, progress: string): Promise<void> {
  await owned(tx, fence).set({ progress }).execute();
}

function owned(tx: Tx, fence: Fence) {
  return tx.db
    .updateTable('jobs')
    .where('id', '=', fence.jobId)
    .where('state', '=', 'running')
    .where('daemon_id', '=', fence.daemonId)
    .where('lease_generation', '=', fence.generation);
}

/** Ends a run. False when the run no longer owned its job: then nothing was written. */
export async function finishJob(
  tx: Tx,
  fence: Fence,
  end: { state: FinalState; exitCode: number | null },
): Promise<boolean> {
  const row = await owned(tx, fence)
    .set({ state: end.state, exit_code: end.exitCode, finished_at: tx.now })
    .returning(['concurrency_key'])
    .executeTakeFirst();
  if (row === undefined) return false;
  await releaseKey(tx, row.concurrency_key);
  return true;
}

/** Ends a job that has not begun. False when it was not in state `from` any more. */
export async function cancelWaiting(tx: Tx, id: string, from: Extract<JobState, 'queued' | 'awaiting_approval'>): Promise<boolean> {
  const row = await tx.db
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: tx.now, expires_at: null })
    .where('id', '=', id)
    .where('state', '=', from)
    .returning(['concurrency_key'])
    .executeTakeFirst();
  if (row === undefined) return false;
  await releaseKey(tx, row.concurrency_key);
  return true;
}

/** The running jobs of one daemon, or of all. */
export function listRunning(db: Db, daemonId?: string): Promise<JobRow[]> {
  let query = db.selectFrom('jobs').selectAll().where('state', '=', 'running').orderBy('id');
  if (daemonId !== undefined) query = query.where('daemon_id', '=', daemonId);
  return query.execute();
}

/** Running jobs of this daemon that somebody asked to stop. */
export async function listCancelRequested(db: Db, daemonId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('state', '=', 'running')
    .where('daemon_id', '=', daemonId)
    .where('cancel_requested_at', 'is not', null)
    .execute();
  return rows.map((row) => row.id);
}
