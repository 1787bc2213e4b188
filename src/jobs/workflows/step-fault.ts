import { Failure } from '../../domain/failure.ts';
import { isEnd } from '../../domain/workflows/workflow.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { type ListedStep, stateOfStep } from '../../store/workflows/runs.ts';
import { checkYes } from '../checked-yes.ts';

/**
 * Why the row of a step does not count, as a message for people; null where it does. Who can write only the database
 * makes no step count as ended: each row has its tag, and the end of a job is recorded only where the job was ordered
 * here and has the yes that it needed (T80, T85).
 */
export async function faultOfStep(tx: Tx, row: ListedStep): Promise<string | null> {
  // A daemon of an earlier build moves a step without its tag.
  if (!(await tx.adoption.isOver())) return null;
  try {
    await checkTag(tx, 'workflow_steps', row);
    if (row.state === 'started' && isEnd(stateOfStep(row))) await checkEnd(tx, row);
    return null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return error.message;
    throw error;
  }
}

async function checkEnd(tx: Tx, { name, job_id: id }: ListedStep): Promise<void> {
  const job = id === null ? undefined : await findJob(tx.db, id);
  // Retention keeps the jobs of an open run.
  if (job === undefined)
    throw new Failure('forbidden', `Integrity: the job of workflow step ${name} was removed. Nothing was run.`);
  const checked = await checkTag(tx, 'jobs', job);
  if (!(await hasNo(tx, checked))) await checkYes(tx, checked);
}

/** A no counts from anywhere, and ends the run by itself. */
async function hasNo(tx: Tx, job: JobRow): Promise<boolean> {
  if (job.initial_state !== 'awaiting_approval') return false;
  const state = (await findApprovalOfJob(tx.db, job.id))?.state;
  return state === 'rejected' || state === 'expired';
}
