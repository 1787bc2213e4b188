import { subjectOf } from '../../domain/events/causes.ts';
import { fromJson } from '../../lib/json.ts';
import type { VendorResult } from '../../runners/vendor/vendor.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { leaveCauses } from '../../store/events/causes.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { recordMove } from '../jobs/job-transitions.ts';

/** What a vendor job has fetched, in numbers. */
export function countsOf({ collections, roles, providers }: VendorResult) {
  return { collections: collections.length, roles: roles.length, providers };
}

/** Records that the source has other vendored files from here on. */
export async function recordVendored(tx: Tx, job: JobRow, source: string, result: VendorResult): Promise<void> {
  // Its owners change the source now: since the request, events may have read that they asked (T84).
  await leaveCauses(tx, subjectOf('source', source), fromJson(job.owners));
  const { files, bytes } = result;
  const detail = { job_id: job.id, files, bytes, ...countsOf(result) };
  recordMove(tx, job.daemon_id ?? '', 'source.vendored', source, detail);
}
