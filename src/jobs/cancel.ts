import { subjectOf } from '../domain/events/causes.ts';
import { cancelReason } from '../domain/jobs/end-reason.ts';
import { isTerminal } from '../domain/jobs/job.ts';
import { rejectOfJob } from '../store/approvals/approvals.ts';
import type { Tx } from '../store/engine/tx.ts';
import { leaveCause } from '../store/events/causes.ts';
import { appendState } from '../store/jobs/chunks.ts';
import { cancelWaiting } from '../store/jobs/claims.ts';
import { getJob, requestCancel } from '../store/jobs/jobs.ts';

/** Who cancels a job, and why, for the approval that it may wait for. */
interface Canceller {
  readonly by: string;
  readonly via: string;
  /** Null for the service, which hands on who caused it. */
  readonly owner: string | null;
  readonly reason: string;
}

/**
 * Cancels a job: one that waits has ended with this write, and the daemon that runs one is asked to stop it. `announce`
 * is called after the commit of an end. False for a job that had ended. Throws not_found.
 */
export async function cancelJob(
  tx: Tx,
  id: string,
  canceller: Canceller,
  announce: (jobId: string) => void,
): Promise<boolean> {
  const reason = cancelReason(canceller.by, canceller.via);
  for (;;) {
    const job = await getJob(tx.db, id);
    if (isTerminal(job.state)) return false;
    if (canceller.owner !== null) await leaveCause(tx, subjectOf('job', id), canceller.owner);
    if (job.state === 'running') {
      if (job.cancel_requested_at !== null || (await requestCancel(tx, id, reason))) return true;
      // Each further look means that the job was moved since the last one, such as by a daemon that ended it.
      continue;
    }
    // The approval first and its job behind it, in the order that decisions take them: else two could wait for each
    // other.
    if (job.state === 'awaiting_approval') await rejectOfJob(tx, id, canceller);
    if (!(await cancelWaiting(tx, id, job.state === 'queued' ? 'queued' : 'awaiting_approval', reason))) continue;
    await appendState(tx, id, 'cancelled', null);
    tx.afterCommit(() => announce(id));
    return true;
  }
}
