import type { JobProgress } from '../../domain/jobs/job.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/jobs/kinds.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { ViewData, ViewItem } from '../views/views.ts';

/** A job row as lists show it. */
export function jobView(row: JobRow): ViewItem<'job.list'> {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    runbook: row.runbook,
    source: row.source,
    trigger: row.trigger,
    workspace: row.workspace,
    concurrency_key: row.concurrency_key,
    ...(row.privileged === 1 ? { privileged: true as const } : {}),
    created_at: rfc3339(row.created_at),
    started_at: timeOrNull(row.started_at),
    finished_at: timeOrNull(row.finished_at),
    ...(row.state === 'awaiting_approval' && row.expires_at !== null ? { expires_at: rfc3339(row.expires_at) } : {}),
    exit_code: row.exit_code,
    requested_by: row.requested_by,
    redrive_of: row.redrive_of,
    ...(KINDS[row.kind].makesPlan || row.plan_artifact_id !== null ? { plan_artifact_id: row.plan_artifact_id } : {}),
  };
}

/** A job row as `job.get` shows it: with its progress, once it has run. */
export function jobDetail(row: JobRow, now: number): ViewData<'job.get'> {
  const view = jobView(row);
  if (row.started_at === null || !(row.state === 'running' || isTerminal(row.state))) return view;
  const progress = row.progress === null ? { play: '', task: '' } : (JSON.parse(row.progress) as JobProgress);
  const elapsedMs = Math.max(0, (row.finished_at ?? now) - row.started_at);
  return { ...view, progress: { ...progress, elapsed_seconds: Math.floor(elapsedMs / 1000) } };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}
