import type { CheckKind, CheckOptions, ProbeDetail, TargetStatus } from '../../domain/checks/check.ts';
import type { SweepState } from '../../domain/checks/sweep/observe.ts';
import type { Json } from '../../lib/json.ts';

/** The tables of checks and netgroups. See schema.ts for the conventions. */

export interface CheckRow {
  name: string;
  kind: CheckKind;
  interval_ms: number;
  enabled: 0 | 1;
  /** JSON: those of its kind. */
  options: Json<CheckOptions[CheckKind]>;
  created_at: number;
  updated_at: number;
  /** Increases with every change of the check, of its targets or of their snoozes, but not with an observation. */
  revision: number;
}

/** A target of a check, and its state. */
export interface CheckTargetRow {
  check_name: string;
  name: string;
  /** Its place among the targets of the check. */
  position: number;
  /** Without the credentials of a URL. Never shown. */
  spec: string;
  /** The credentials of its URL, `user:password`, sealed; null without any. */
  credentials: Uint8Array | null;
  /** The key that sealed them; null without credentials. */
  key_id: string | null;
  status: TargetStatus;
  /** Whether it was ever up. */
  was_up: 0 | 1;
  duration_ms: number | null;
  detail: ProbeDetail | null;
  /** Whole days until its certificate ends, where the probe knows. */
  certificate_days: number | null;
  /** When the status changed. */
  last_change: number | null;
  /** JSON: the observations in a row that disagree with the status. */
  pending: Json<Pick<SweepState, 'disagreeing' | 'withheld'>> | null;
  snoozed_until: number | null;
}

export interface NetgroupRow {
  id: string;
  name: string;
  /** CIDR prefixes in their canonical form, with commas between them. */
  prefixes: string;
  /** As `prefixes`: addresses that are in no group. */
  excludes: string;
  created_at: number;
  updated_at: number;
}
