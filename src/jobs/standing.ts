import { readPinned } from '../domain/approvals/pinned.ts';
import type { TagReader } from '../store/engine/tags/tags.ts';
import { getJob } from '../store/jobs/jobs.ts';
import type { ApprovalRow } from '../store/schema/schema.ts';
import { QUEUE_RULES } from './kinds.ts';
import { checkFiles } from './pins/directory.ts';
import { changeOfRows } from './pins/settings.ts';
import type { ApprovalCheck } from './queue-rules.ts';

/** The one look at a request before a yes, and to show it: its plan, then what was pinned when it was asked for. */
export async function stillHolds(on: TagReader, approval: ApprovalRow): Promise<ApprovalCheck> {
  const check = await QUEUE_RULES[approval.kind].stillHolds(on.db, approval);
  if (check.is !== 'good') return check;
  const job = await getJob(on.db, approval.job_id);
  const why = await changeOfRows(on, job);
  return why === null ? checkFiles(readPinned(job.pinned)?.files) : { is: 'changed', why };
}
