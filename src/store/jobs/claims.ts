import { sql } from 'kysely';
import type { FinalState, JobState } from '../../domain/jobs/job.ts';
import { mustHold } from '../../lib/invariants/invariants.ts';
import { findApprovalOfJob } from '../approvals/approvals.ts';
import { countedUp } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import { retagged } from '../engine/tags/tags.ts';
import { getJob, releaseKey } from './jobs.ts';
import { setPartial } from './partials.ts';
import { QUEUED, RUNNING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import type { Db, JobRow } from '../schema/schema.ts';

/** Names one claim of one job. A write that carries it changes nothing once the claim was lost. */
export interface Fence {
  readonly jobId: string;
  readonly daemonId: string;
  readonly generation: number;
}

export function fenceOf(row: JobRow): Fence {
  return { jobId: row.id, daemonId: row.daemon_id ?? '', generation: row.lease_generation };
}

const claimReady = prepared<{ daemonId: string; now: number; limit: number }, JobRow>((db, value, dialect) =>
  db
    // Materialized, or PostgreSQL may run the locking query once for each row and claim more than the limit.
    .with(
      (cte) => cte('ready').materialized(),
      () => sql<{ id: string }>`(${dialect.readyJobs(value('daemonId'), value('limit'), 'claim')})`,
    )
    .updateTable('jobs')
    .set({
      state: RUNNING,
      daemon_id: value('daemonId'),
      started_at: value('now'),
      lease_generation: countedUp('lease_generation'),
    })
    .where('state', '=', QUEUED)
    .where('id', 'in', (eb) => eb.selectFrom('ready').select('ready.id'))
    .returningAll(),
);

/**
 * Claims up to `limit` jobs, those of any daemon and of this one alone, in the order they were queued. A partial index
 * holds exactly the claimable rows, so the cost does not grow with the queue; a partial unique index guards that one
 * job of a key runs at a time.
 */
export async function claimJobs(tx: Tx, daemonId: string, limit: number): Promise<JobRow[]> {
  const { rows } = await claimReady(tx.db, { daemonId, now: tx.now, limit });
  checkClaimed(rows, daemonId, limit);
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function checkClaimed(rows: readonly JobRow[], by: string, limit: number): void {
  for (const { id: job, state, daemon_id: daemon } of rows) mustHold('claim.owner', { job, state, daemon, by });
  const keys = rows.flatMap(({ concurrency_key: key }) => key ?? []);
  const ids = new Set(rows.map(({ id }) => id)).size;
  mustHold('claim.count', { jobs: rows.length, limit, ids, keyed: keys.length, keys: new Set(keys).size });
}

/** Of a run: a row that somebody wrote may name no daemon. */
export function checkFence({ jobId: job, daemonId: daemon, generation }: Fence): void {
  mustHold('fence.whole', { job, daemon, generation });
}

type LeaderOf = Fence & { readonly pid: number; readonly startTicks: number };

const setLeader = prepared<LeaderOf, unknown>((db, value) =>
  db
    .updateTable('jobs')
    .set({ leader_pid: value('pid'), leader_start: value('startTicks') })
    .where('id', '=', value('jobId'))
    .where('state', '=', RUNNING)
    .where('daemon_id', '=', value('daemonId'))
    .where('lease_generation', '=', value('generation')),
);

/** Remembers the first process of the run, so that another daemon can end the tree. False when the job was lost. */
export async function recordLeader(tx: Tx, fence: Fence, leader: Omit<LeaderOf, keyof Fence>): Promise<boolean> {
  const { pid, startTicks } = leader;
  checkFence(fence);
  const { changed } = await setLeader(tx.db, { ...fence, pid, startTicks });
  mustHold('fence.one', { job: fence.jobId, changed });
  return changed > 0;
}

/** Names the plan that a plan run has made. */
export async function recordArtifact(tx: Tx, jobId: string, artifactId: string): Promise<void> {
  const job = await getJob(tx.db, jobId);
  const columns = retagged(tx.ring, 'jobs', job, { plan_artifact_id: artifactId });
  await tx.db.updateTable('jobs').set(columns).where('id', '=', jobId).execute();
}

/** How a run ended. */
export interface JobEnd {
  readonly state: FinalState;
  readonly exitCode: number | null;
  /** Without one the job keeps that of its cancellation. */
  readonly reason?: string | null;
  /** Of a job whose end was not seen: when its daemon was last seen, in milliseconds since the epoch. Default: now. */
  readonly at?: number;
}

type Finish = Fence & Required<JobEnd>;

const finish = prepared<Finish, { concurrency_key: string | null }>((db, value) =>
  db
    .updateTable('jobs')
    .set((eb) => ({
      state: value('state'),
      exit_code: value('exitCode'),
      finished_at: value('at'),
      reason: eb.fn.coalesce(eb.val(value('reason')), 'reason'),
    }))
    .where('id', '=', value('jobId'))
    .where('state', '=', RUNNING)
    .where('daemon_id', '=', value('daemonId'))
    .where('lease_generation', '=', value('generation'))
    .returning(['concurrency_key']),
);

/** Ends a run. False when the run no longer owned its job: then nothing was written. */
export async function finishJob(tx: Tx, fence: Fence, end: JobEnd): Promise<boolean> {
  await tx.dialect.lockKeyOf(tx.db, fence.jobId);
  const { rows } = await finish(tx.db, { ...fence, reason: null, at: tx.now, ...end });
  mustHold('fence.one', { job: fence.jobId, changed: rows.length });
  const [row] = rows;
  if (row !== undefined) setPartial(tx, fence.jobId, null);
  return releaseKeyOf(tx, row);
}

/** Releases the key of a job that was moved; false where none was. */
async function releaseKeyOf(tx: Tx, moved: Pick<JobRow, 'concurrency_key'> | undefined): Promise<boolean> {
  if (moved === undefined) return false;
  await releaseKey(tx, moved.concurrency_key);
  return true;
}

/** Ends a job that has not begun. False when it was not in state `from` any more. */
export async function cancelWaiting(
  tx: Tx,
  id: string,
  from: Extract<JobState, 'queued' | 'awaiting_approval'>,
  reason: string | null = null,
): Promise<boolean> {
  await tx.dialect.lockKeyOf(tx.db, id);
  const row = await tx.db
    .updateTable('jobs')
    .set({ state: 'cancelled', finished_at: tx.now, expires_at: null, reason })
    .where('id', '=', id)
    .where('state', '=', from)
    .returning(['concurrency_key'])
    .executeTakeFirst();
  return releaseKeyOf(tx, row);
}

/** Puts an approved job into the queue, behind the other jobs of its key. False if it no longer awaited an approval. */
export async function queueApproved(tx: Tx, id: string): Promise<boolean> {
  const approval = await findApprovalOfJob(tx.db, id);
  mustHold('settle.yes', { job: id, approval: approval?.state ?? null });
  await tx.dialect.lockKeyOf(tx.db, id);
  const row = await tx.db
    .updateTable('jobs')
    .set((eb) => ({
      state: 'queued',
      expires_at: null,
      blocked: eb.case().when('concurrency_key', 'is', null).then(0).else(1).end() as never,
    }))
    .where('id', '=', id)
    .where('state', '=', 'awaiting_approval')
    .returning(['concurrency_key'])
    .executeTakeFirst();
  return releaseKeyOf(tx, row);
}

/** Running jobs of this daemon with a requested cancel. */
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
