import type { ApprovalState, Decision, Origin } from '../../domain/approvals/approval.ts';
import type { JobKind } from '../../domain/jobs/job.ts';
import type { Verdict } from '../../domain/workspaces/plan.ts';
import type { SourceKind } from '../../domain/sources/source.ts';
import type { UsedSecret, WorkspaceInputs } from '../../domain/workspaces/inputs.ts';
import type { Drift } from '../../domain/workspaces/workspace.ts';
import type { Json } from '../../lib/json.ts';

/** The tables of sources, workspaces, plans, approvals and what is sealed. See schema.ts for the conventions. */

export interface SourceRow {
  name: string;
  kind: SourceKind;
  /**
   * The URL or the directory. Never shown: a URL may be refused for its credentials, but not every form of them is
   * known.
   */
  location: string;
  ref: string | null;
  commit_id: string | null;
  synced_at: number | null;
  created_at: number;
  /** 1: Ansible may load the plugins of the source. */
  plugins: 0 | 1;
  /** JSON: what the directory was on each machine when a person named it, see `withKept`. Null for another source. */
  dir_kept: string | null;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}

export interface WorkspaceRow {
  name: string;
  source: string | null;
  /** Absolute where there is no source, else below its root; empty is the root itself. */
  path: string;
  /** As that of a source, where there is no source. */
  dir_kept: string | null;
  approve_when: string | null;
  deny_when: string | null;
  require_saved_plan: 0 | 1;
  protect_destroy: 0 | 1;
  /** Of the newest state that is known; null before the first. */
  serial: number | null;
  lineage: string | null;
  /** The job that made `serial`; null when the mover is outside of the service. */
  moved_by_job: string | null;
  moved_via: string | null;
  moved_at: number | null;
  drift: Drift;
  /** Whether its root has its own backend; null before the first run. */
  own_backend: 0 | 1 | null;
  /**
   * JSON: the secrets that its runs were ever given. Their values may be in its state, and are kept out of every
   * output.
   */
  secret_refs: Json<readonly string[]>;
  /** JSON: what each run gets; absent parts are empty. */
  inputs: Json<Partial<WorkspaceInputs>>;
  drift_checked_at: number | null;
  last_plan_job_id: string | null;
  last_apply_job_id: string | null;
  created_at: number;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}

/** One version of the state of a root that has no backend. */
export interface StateRow {
  workspace: string;
  version: number;
  serial: number;
  lineage: string;
  /** How many resources it holds. */
  resources: number;
  job_id: string | null;
  sealed: Uint8Array;
  key_id: string;
  created_at: number;
}

/** A saved plan. */
export interface ArtifactRow {
  id: string;
  workspace: string;
  job_id: string;
  /** Of the state that it was made from; 0 where there was none. */
  serial: number;
  lineage: string;
  /** SHA-256 over the files of the root: an apply of other files is not what was planned. */
  tree_digest: string;
  needs_init: 0 | 1;
  own_backend: 0 | 1;
  /** JSON: the secrets that it was made with, by variable. Its file has their values in it. */
  secrets: Json<Readonly<Record<string, UsedSecret>>>;
  verdict: Verdict | null;
  verdict_reason: string | null;
  destroys: number;
  changes: number;
  creates: number;
  summary: string;
  /** The plan file, sealed. */
  sealed: Uint8Array;
  /** SHA-256 of `sealed`, hex; the audit ledger has it too. */
  digest: string;
  /** The JSON of `approval.plan`, redacted, compressed and sealed. */
  sealed_view: Uint8Array;
  key_id: string;
  created_at: number;
  /** The job that applied it, or tried: a plan runs once. */
  consumed_by: string | null;
  order_tag: string | null;
  order_key_id: string | null;
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

export interface SecretRow {
  project: string;
  name: string;
  version: number;
  sealed: Uint8Array;
  key_id: string;
  created_at: number;
  updated_at: number;
}

/** The key that the daemons of this store seal with. */
export interface SealRow {
  id: 1;
  key_id: string;
  created_at: number;
  /** When an operator last exported the key file, and the key that sealed then; null before. */
  exported_at: number | null;
  exported_key_id: string | null;
}
