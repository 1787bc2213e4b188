import { Failure } from '../../domain/failure.ts';
import { checkYes } from '../../jobs/checked-yes.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

/**
 * Refuses a claimed job that this service did not order, or that has no yes and needs one: who can write only the
 * database makes nothing run. Throws forbidden, with a message for the output of the job.
 */
export async function checkOrder(store: Store, job: JobRow, node: string): Promise<void> {
  const checked = await checkTag(store, 'jobs', job);
  // Which daemon has a name is a row that anybody may have changed; its own settings are not.
  if (job.node !== null && job.node !== node)
    throw new Failure('forbidden', `Integrity: job ${job.id} was ordered for node ${job.node}. Nothing was run.`);
  await checkYes(store, checked);
}
