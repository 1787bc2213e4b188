import type { Scope } from '../../domain/access/scope.ts';
import { shownCommit } from '../../domain/approvals/pinned.ts';
import { hostOf } from '../../domain/rules/mute.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { ApprovalCheck } from '../../jobs/queue-rules.ts';
import { summarise, type SummaryFacts } from '../../domain/approvals/summary.ts';
import { fromJson } from '../../lib/json.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import type { ShownApproval } from './checked-request.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

/** An approval row as lists show it. */
export function approvalView(row: ShownApproval): ViewItem<'approval.list'> {
  return {
    ...row,
    created_at: rfc3339(row.created_at),
    expires_at: rfc3339(row.expires_at),
    decided_at: row.decided_at === null ? null : rfc3339(row.decided_at),
    summary: summaryOf(row),
  };
}

/** The view of `approval.get`: adds the origin of the request, and what is in the way of a yes. */
export function approvalDetail(
  row: ShownApproval,
  check: ApprovalCheck | null,
  missing: readonly Scope[],
): ViewData<'approval.get'> {
  const block = { ...blockOf(check), ...(missing.length === 0 ? {} : { missing_scopes: [...missing] }) };
  const because = row.because ?? undefined;
  const commit = shownCommit(row.job_pinned);
  return { ...approvalView(row), ...block, provenance: provenanceOf(row), source_commit: commit, because };
}

function blockOf(check: ApprovalCheck | null): Pick<ViewData<'approval.get'>, 'stale' | 'changed'> {
  if (check === null || check.is === 'good') return {};
  return 'stale' in check ? { stale: check.stale } : { changed: check.why };
}

function summaryOf(row: ShownApproval): string {
  return summarise(summaryFacts(row));
}

/** What the summary of an approval is made of. */
export function summaryFacts(row: ShownApproval): SummaryFacts {
  const { fault, kind, workspace, summary: written, job_spec: spec, plan_summary: plan, schedule } = row;
  const { step_name: name, step_workflow: workflow } = row;
  const step = name === null || workflow === null ? null : { name, workflow };
  const labels = row.event_labels === null ? null : fromJson(row.event_labels);
  const event = labels === null ? null : { name: row.event_name, host: hostOf(labels) };
  const privileged = row.job_privileged === 1;
  const writesOutside = row.job_writable === 1;
  return { fault, kind, workspace, privileged, writesOutside, written, spec, plan, event, step, schedule };
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
