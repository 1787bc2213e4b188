import type { UsedSecret, WorkspaceInputs } from '../../../domain/workspaces/inputs.ts';
import type { Verdict } from '../../../domain/workspaces/plan.ts';
import type { Drift } from '../../../domain/workspaces/workspace.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    workspaces: WorkspaceRow;
    states: StateRow;
    artifacts: ArtifactRow;
  }
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
  /** 1: it may have a fresh apply and a destroy in a strict service too. Null: it was never said. */
  unprotected: 0 | 1 | null;
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
