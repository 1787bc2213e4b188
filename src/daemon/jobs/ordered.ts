import { Failure } from '../../domain/failure.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

/**
 * Refuses a claimed job that this service did not order, or that has no yes and needs one: who can write only the
 * database makes nothing run. Throws forbidden, with a message for the output of the job.
 */
export async function checkOrder(store: Store, job: JobRow): Promise<void> {
  await checkTag(store, 'jobs', job);
  // A daemon of an earlier build decides without a tag.
  if (job.initial_state !== 'awaiting_approval' || !(await store.adoption.isOver())) return;
  const approval = await findApprovalOfJob(store.db, job.id);
  if (approval?.state !== 'approved')
    throw new Failure('forbidden', `Integrity: job ${job.id} needs an approval and has none. Nothing was run.`);
  await checkTag(store, 'approvals', approval);
}
