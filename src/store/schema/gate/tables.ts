import type { ApproveRuns } from '../../../domain/gate/run-approval.ts';

declare module '../schema.ts' {
  interface Schema {
    gate: GateRow;
  }
}

/** Which runs need an approval, as a column pair: null where it is not set. */
export interface RunApprovalColumns {
  approve_runs: ApproveRuns | null;
  /** 1: a playbook in check mode needs none. */
  except_check: 0 | 1 | null;
}

/** Of the whole service; no row: nothing is set. */
export interface GateRow {
  id: 1;
  strict: 0 | 1;
  set_at: number;
  set_by: string;
  /** Of runs on this machine, as `RunApprovalColumns`. */
  localhost_runs: ApproveRuns | null;
  localhost_except_check: 0 | 1 | null;
  order_tag: string | null;
  order_key_id: string | null;
}
