import { OPEN_STATES, type JobEvent, type JobState } from '../../domain/jobs/job.ts';
import { encodeChunk } from '../../lib/chunks/chunk.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Tx } from '../engine/tx.ts';
import { insertChunk, lastSeq } from '../jobs/chunks.ts';
import { setCordon } from '../maintenance/cordon.ts';
import type { JobRow } from '../schema/schema.ts';
import { interruptRuns } from '../workflows/runs.ts';

/** What is written into the rows that end. */
const REASON = 'restored from backup';
/** The event of an end that is not reported. */
const UNREPORTED = '';

/** How each state of a job that has not ended ends. */
const ENDS: Readonly<Partial<Record<JobState, 'interrupted' | 'cancelled'>>> = {
  queued: 'interrupted',
  running: 'interrupted',
  awaiting_approval: 'cancelled',
};

/** What a restored store ended. */
export type Settled = Readonly<
  Record<'interrupted' | 'cancelled' | 'approvals' | 'workflow_runs' | 'deliveries', number>
>;

/**
 * Brings a restored store to rest: what was under way when its backup was made has ended since then, nothing that is
 * due is caught up with, and no notification is sent. It stays cordoned until an operator has looked at it.
 * `interrupted` writes what a kind of job leaves when it is interrupted.
 *
 * A table whose rows are open, or due at a time, has a line here.
 */
export async function settleRestored(
  tx: Tx,
  by: string,
  interrupted: (tx: Tx, job: JobRow) => Promise<void>,
): Promise<Settled> {
  await setCordon(tx, by);
  const approvals = await expireApprovals(tx);
  const jobs = await endJobs(tx, interrupted);
  // After the jobs, whose ends are those of the steps.
  const runs = await interruptRuns(tx, REASON);
  const deliveries = await giveUpNotifications(tx);
  await leaveUnreported(tx);
  await tx.db.deleteFrom('sessions').execute();
  await tx.db.updateTable('daemons').set({ stopped_at: tx.now }).where('stopped_at', 'is', null).execute();
  await tx.db.updateTable('workspaces').set({ drift: 'unknown', drift_checked_at: null }).execute();
  // The daemon computes the next slots of these, from then on.
  const now = await tx.dialect.clock(tx.db, tx.now);
  await tx.db.updateTable('schedules').set({ next_at: null }).where('next_at', '<=', now).execute();
  return { ...jobs, approvals, workflow_runs: runs, deliveries };
}

async function expireApprovals(tx: Tx): Promise<number> {
  const ended = await tx.db
    .updateTable('approvals')
    .set({ state: 'expired', decided_at: tx.now, reason: REASON })
    .where('state', '=', 'pending')
    .executeTakeFirst();
  return Number(ended.numUpdatedRows);
}

async function endJobs(
  tx: Tx,
  interrupted: (tx: Tx, job: JobRow) => Promise<void>,
): Promise<Pick<Settled, 'interrupted' | 'cancelled'>> {
  const ended = { interrupted: 0, cancelled: 0 };
  const open = await tx.db.selectFrom('jobs').selectAll().where('state', 'in', OPEN_STATES).orderBy('id').execute();
  for (const job of open) {
    const state = ENDS[job.state];
    if (state === undefined) throw new Error(`a restored job that is ${job.state} has no end`);
    await tx.db
      .updateTable('jobs')
      .set({ state, finished_at: tx.now, expires_at: null, blocked: 0, reason: REASON })
      .where('id', '=', job.id)
      .execute();
    await appendEnd(tx, job.id, state);
    if (job.state === 'running') await interrupted(tx, job);
    ended[state] += 1;
  }
  await tx.db.deleteFrom('job_partials').execute();
  return ended;
}

/** The reason as a line of the output, and the event of the end. */
async function appendEnd(tx: Tx, jobId: string, state: 'interrupted' | 'cancelled'): Promise<void> {
  const seq = (await lastSeq(tx.db, jobId)) + 1;
  const at = rfc3339(tx.now);
  const events: JobEvent[] = [
    { seq, at, type: 'log', stream: 'system', text: `The job was ${state}: ${REASON}.` },
    { seq: seq + 1, at, type: 'state', state, exit_code: null },
  ];
  insertChunk(tx, jobId, { first_seq: seq, last_seq: seq + 1, raw_bytes: 0, data: encodeChunk(events) });
}

/** The number of messages that were not sent. */
async function giveUpNotifications(tx: Tx): Promise<number> {
  const given = await tx.db
    .updateTable('deliveries')
    .set({ state: 'dead', failure: REASON, settled_at: tx.now })
    .where('state', '=', 'waiting')
    .executeTakeFirst();
  await tx.db
    .updateTable('pages')
    .set({ state: 'done', reason: REASON })
    .where('state', 'in', ['new', 'sending'])
    .execute();
  // No message follows about the outcome of a request that was announced before.
  await tx.db.updateTable('pages').set({ followed: 1 }).where('followed', '=', 0).execute();
  await tx.db.updateTable('armed_jobs').set({ done_at: tx.now }).where('done_at', 'is', null).execute();
  return Number(given.numUpdatedRows);
}

/** Ends that have no event yet get none: rules would act on what is long over. */
async function leaveUnreported(tx: Tx): Promise<void> {
  await tx.db
    .updateTable('jobs')
    .set({ outcome_event_id: UNREPORTED, drift_status: null })
    .where('outcome_event_id', 'is', null)
    .execute();
  await tx.db
    .updateTable('workflow_runs')
    .set({ outcome_event_id: UNREPORTED })
    .where('outcome_event_id', 'is', null)
    .execute();
}
