import { rfc3339 } from '../../lib/clock.ts';
import type { StaleBlock } from '../../jobs/queue-rules.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import type { ViewData, ViewItem } from '../views/views.ts';

/** An approval row as lists show it. */
export function approvalView(row: ApprovalRow): ViewItem<'approval.list'> {
  return {
    id: row.id,
    job_id: row.job_id,
    kind: row.kind,
    state: row.state,
    policy: row.policy,
    workspace: row.workspace,
    runbook: row.runbook,
    plan_artifact_id: row.plan_artifact_id,
    requested_by: row.requested_by,
    created_at: rfc3339(row.created_at),
    expires_at: rfc3339(row.expires_at),
    decided_at: row.decided_at === null ? null : rfc3339(row.decided_at),
    decided_by: row.decided_by,
    decided_via: row.decided_via,
    reason: row.reason,
  };
}

/** As `approval.get` shows it: with where the asking began, and with what moved the state meanwhile. */
export function approvalDetail(row: ApprovalRow, stale: StaleBlock | null): ViewData<'approval.get'> {
  return { ...approvalView(row), ...(stale === null ? {} : { stale }), provenance: provenanceOf(row) };
}

function provenanceOf({
  origin,
  alert,
  rule,
  matched_at: matchedAt,
}: ApprovalRow): ViewData<'approval.get'>['provenance'] {
  if (origin !== 'alert') return { origin };
  return {
    origin,
    ...(alert === null ? {} : { alert }),
    ...(rule === null ? {} : { rule }),
    ...(matchedAt === null ? {} : { matched_at: rfc3339(matchedAt) }),
  };
}
