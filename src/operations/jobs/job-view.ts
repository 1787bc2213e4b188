import type { JobProgress } from '../../domain/jobs/job.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/jobs/kinds.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { nodeOf } from '../../store/maintenance/nodes.ts';
import type { Db, JobRow } from '../../store/schema/schema.ts';
import type { ViewData, ViewItem } from '../views/views.ts';

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

/** A job row as `job.get` shows it: with its progress, once it has run, and the node that runs or ran it. */
export async function jobDetail(db: Db, row: JobRow, now: number): Promise<ViewData<'job.get'>> {
  const view = { ...jobView(row), progress: undefined, node: await nodeOf(db, row) };
  if (row.started_at === null || !(row.state === 'running' || isTerminal(row.state))) return view;
  const progress = row.progress === null ? { play: '', task: '' } : (JSON.parse(row.progress) as JobProgress);
  const elapsedMs = Math.max(0, (row.finished_at ?? now) - row.started_at);
  return { ...view, progress: { ...progress, elapsed_seconds: Math.floor(elapsedMs / 1000) } };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}
