import { Failure } from '../../domain/failure.ts';
import { isEnd } from '../../domain/workflows/workflow.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import { type ListedStep, stateOfStep } from '../../store/workflows/runs.ts';
import { checkYesIn, needsYes } from '../checked-yes.ts';

/** What the row of a step is worth. Both are messages for people. */
interface StepCheck {
  /** Why it does not count; null where it does. */
  readonly fault: string | null;
  /** The no that its job got: its end is a cancel, whatever the row of the job says. */
  readonly no: string | null;
}

const RIGHT: StepCheck = { fault: null, no: null };

/**
 * Who can write only the database makes no step count as ended: each row has its tag, and the end of a job is recorded
 * only where the job was ordered here and has the yes that it needed (T80, T85).
 */
export async function checkStep(tx: Tx, row: ListedStep): Promise<StepCheck> {
  // A daemon of an earlier build moves a step without its tag.
  if (!(await tx.adoption.isOver())) return RIGHT;
  try {
    await checkTag(tx, 'workflow_steps', row);
    if (row.state !== 'started' || !isEnd(stateOfStep(row))) return RIGHT;
    return { fault: null, no: await checkEnd(tx, row) };
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return { fault: error.message, no: null };
    throw error;
  }
}

/**
 * Answers the no that the job got. The approval is read once: it may be another at the next read. Throws forbidden for
 * an end that does not count.
 */
async function checkEnd(tx: Tx, { name, job_id: id }: ListedStep): Promise<string | null> {
  const found = id === null ? undefined : await findJob(tx.db, id);
  // Retention keeps the jobs of an open run.
  if (found === undefined)
    throw new Failure('forbidden', `Integrity: the job of workflow step ${name} was removed. Nothing was run.`);
  const job = await checkTag(tx, 'jobs', found);
  if (!(await needsYes(tx, job))) return null;
  const approval = await findApprovalOfJob(tx.db, job.id);
  if (approval?.state === 'rejected' || approval?.state === 'expired') return refusalOf(name, approval.state);
  await checkYesIn(tx, job, approval);
  return null;
}

/** As a part of a sentence. */
export function refusalOf(step: string, state: string): string {
  return `the approval of the step ${step} is ${state}`;
}
