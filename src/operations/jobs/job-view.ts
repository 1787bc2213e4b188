import { shownCommit } from '../../domain/approvals/pinned.ts';
import { refusalReason } from '../../domain/jobs/end-reason.ts';
import type { JobState } from '../../domain/jobs/job.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/kinds.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { askedBy } from '../../store/jobs/repeats.ts';
import { nodeOf } from '../../store/maintenance/nodes.ts';
import type { Db, JobRow } from '../../store/schema/schema.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

/** A job row as lists show it. */
export function jobView(row: JobRow): ViewItem<'job.list'> {
  return {
    ...row,
    privileged: row.privileged === 1 ? true : undefined,
    created_at: rfc3339(row.created_at),
    started_at: timeOrNull(row.started_at),
    finished_at: timeOrNull(row.finished_at),
    expires_at: row.state === 'awaiting_approval' && row.expires_at !== null ? rfc3339(row.expires_at) : undefined,
    plan_artifact_id: row.plan_artifact_id ?? (KINDS[row.kind].makesPlan ? null : undefined),
  };
}

/** States with a reason. */
const UNDONE: readonly JobState[] = ['failed', 'cancelled', 'interrupted'];

/** A job row as `job.get` shows it: with its progress, once it has run, and what it came from and ended with. */
export async function jobDetail(db: Db, row: JobRow, now: number): Promise<ViewData<'job.get'>> {
  const [{ eventId }, approval, node] = await Promise.all([
    askedBy(db, row),
    findApprovalOfJob(db, row.id),
    nodeOf(db, row),
  ]);
  const refusal = row.state === 'cancelled' && approval !== undefined ? refusalReason(approval) : null;
  const view = {
    ...jobView(row),
    progress: undefined,
    event_id: eventId,
    approval_id: approval?.id ?? null,
    reason: UNDONE.includes(row.state) ? (refusal ?? row.reason) : null,
    node,
    rerun_of: row.rerun_of,
    source_commit: shownCommit(row.pinned),
    because: row.because ?? undefined,
  };
  if (row.started_at === null || !(row.state === 'running' || isTerminal(row.state))) return view;
  const progress = row.progress === null ? { play: '', task: '' } : fromJson(row.progress);
  const elapsedMs = Math.max(0, (row.finished_at ?? now) - row.started_at);
  return { ...view, progress: { ...progress, elapsed_seconds: Math.floor(elapsedMs / 1000) } };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}
