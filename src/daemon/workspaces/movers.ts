import { subjectOf } from '../../domain/events/causes.ts';
import { fromJson } from '../../lib/json.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { leaveCauses, notedCauses } from '../../store/events/causes.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { recordApply } from '../../store/workspaces/workspaces.ts';

/**
 * Notes who is behind a job that moves the state of its workspace, or ends a change of it, as causes of what is found
 * there later: who asked for it, and who has cancelled it half way. Called with each move and with the end, so that it
 * does not matter whether the cancel or the state came first. A yes is no cause: else each approved repair of a drift
 * would use up an approver of the next one.
 */
export async function leaveMovers(tx: Tx, { id, workspace }: Pick<JobRow, 'id' | 'workspace'>): Promise<void> {
  const job = await findJob(tx.db, id);
  if (job === undefined || workspace === null) return;
  const cancellers = job.cancel_requested_at === null ? [] : await notedCauses(tx, [subjectOf('job', id)]);
  await leaveCauses(tx, subjectOf('workspace', workspace), [...fromJson(job.owners), ...cancellers]);
}

/** The end of a run that changes the infrastructure, whatever became of it. */
export async function recordChange(tx: Tx, name: string, job: JobRow): Promise<void> {
  await recordApply(tx, name, job.id);
  await leaveMovers(tx, job);
}
