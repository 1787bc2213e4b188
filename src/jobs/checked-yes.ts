import { Failure } from '../domain/failure.ts';
import { findApprovalOfJob } from '../store/approvals/approvals.ts';
import { checkTag, type TagContext } from '../store/engine/tags/tags.ts';
import type { Db, JobRow } from '../store/schema/schema.ts';

/**
 * Refuses a job that needs an approval and has no yes that was given here. `job` passed the check of its tag, which
 * covers whether it needs one. Throws forbidden, with a message for people.
 */
export async function checkYes(on: TagContext & { readonly db: Db }, job: JobRow): Promise<void> {
  // A daemon of an earlier build decides without a tag.
  if (job.initial_state !== 'awaiting_approval' || !(await on.adoption.isOver())) return;
  const approval = await findApprovalOfJob(on.db, job.id);
  if (approval?.state !== 'approved')
    throw new Failure('forbidden', `Integrity: job ${job.id} needs an approval and has none. Nothing was run.`);
  await checkTag(on, 'approvals', approval);
}
