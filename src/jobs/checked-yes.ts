import { Failure } from '../domain/failure.ts';
import { findApprovalOfJob } from '../store/approvals/approvals.ts';
import { checkTag, type TagContext } from '../store/engine/tags/tags.ts';
import type { ApprovalRow, Db, JobRow } from '../store/schema/schema.ts';

type Reader = TagContext & { readonly db: Db };

/**
 * Refuses a job that needs an approval and has no yes that was given here. `job` passed the check of its tag, which
 * covers whether it needs one. Throws forbidden, with a message for people.
 */
export async function checkYes(on: Reader, job: JobRow): Promise<void> {
  if (await needsYes(on, job)) await checkYesIn(on, job, await findApprovalOfJob(on.db, job.id));
}

/** A daemon of an earlier build decides without a tag. */
export async function needsYes(on: Reader, job: JobRow): Promise<boolean> {
  return job.initial_state === 'awaiting_approval' && (await on.adoption.isOver());
}

/** As `checkYes`, of the approval of a job that needs a yes, as it was read. */
export async function checkYesIn(on: Reader, job: JobRow, approval: ApprovalRow | undefined): Promise<void> {
  if (approval?.state !== 'approved')
    throw new Failure('forbidden', `Integrity: job ${job.id} needs an approval and has none. Nothing was run.`);
  await checkTag(on, 'approvals', approval);
}
