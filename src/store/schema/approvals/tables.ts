import type { ApprovalState, Decision, Origin } from '../../../domain/approvals/approval.ts';
import type { JobKind } from '../../../domain/jobs/job.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    approvals: ApprovalRow;
    decision_links: DecisionLinkRow;
  }
}

export interface ApprovalRow {
  id: string;
  job_id: string;
  kind: JobKind;
  state: ApprovalState;
  policy: string;
  workspace: string | null;
  runbook: string;
  plan_artifact_id: string | null;
  /** What was asked about: the digest and the serial of the plan at that time. */
  plan_digest: string | null;
  plan_serial: number | null;
  requested_by: string;
  /** JSON: the owners in the asking chain; none of them may decide. */
  owners: Json<readonly string[]>;
  origin: Origin;
  alert: string | null;
  rule: string | null;
  matched_at: number | null;
  /** Of the origin schedule. */
  schedule: string | null;
  created_at: number;
  /** By the clock of the database, where daemons share one. */
  expires_at: number;
  decided_at: number | null;
  decided_by: string | null;
  decided_via: string | null;
  reason: string | null;
  /** 1: the rule that asked allows one tap. */
  one_tap: 0 | 1;
  /** What the job does, in the words of its author, as it was asked about. */
  summary: string | null;
  /** As of its job. */
  because: string | null;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}

/** One capability to decide one approval one way. */
export interface DecisionLinkRow {
  /** SHA-256 of the token, hex. */
  hash: string;
  approval_id: string;
  decision: Decision;
  /** As whom the link acts. */
  recipient: string;
  /** The owner of the credential that made it, or `gatehouse`. */
  made_by: string;
  created_at: number;
  /** The key of the `--notify` target that it was made for; null for one that acts as an owner. */
  target: string | null;
  /** 1: a button in a notification; it decides without the form of the page, where that is allowed. */
  one_tap: 0 | 1;
  order_tag: string | null;
  order_key_id: string | null;
}
