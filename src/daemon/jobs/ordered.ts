import { Failure } from '../../domain/failure.ts';
import type { Keyring } from '../../lib/seal.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

interface OrderDeps {
  readonly store: Store;
  readonly keyring: () => Promise<Keyring>;
}

/**
 * Refuses a claimed job that this service did not order, or that has no yes and needs one: who can write only the
 * database makes nothing run. Throws forbidden, with a message for the output of the job.
 */
export async function checkOrder({ store, keyring }: OrderDeps, job: JobRow): Promise<void> {
  const { adoption, db } = store;
  const on = { ring: await keyring(), adoption };
  await checkTag(on, 'jobs', job);
  // A daemon of an earlier build decides without a tag.
  if (job.initial_state !== 'awaiting_approval' || !(await adoption.isOver())) return;
  const approval = await findApprovalOfJob(db, job.id);
  if (approval?.state !== 'approved')
    throw new Failure('forbidden', `Integrity: job ${job.id} needs an approval and has none. Nothing was run.`);
  await checkTag(on, 'approvals', approval);
}
