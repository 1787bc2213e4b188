import type { CheckKind, CheckOptions, ProbeDetail, TargetStatus } from '../../../domain/checks/check.ts';
import type { SweepState } from '../../../domain/checks/sweep/observe.ts';
import type { SweepReport } from '../../../domain/checks/sweep/report.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    check_days: CheckDayRow;
    check_sweepers: CheckSweeperRow;
    check_shards: CheckShardRow;
    checks: CheckRow;
    check_targets: CheckTargetRow;
  }
}

/** What was observed of a target on one day. */
export interface CheckDayRow {
  check_name: string;
  name: string;
  /** Days since the epoch, UTC. */
  day: number;
  /** The number of observations of each reading. */
  up: number;
  down: number;
  missed: number;
  /** Observations by half hour, and durations (`domain/checks/sweep/day.ts`); null once only counts are kept. */
  slots: Uint8Array | null;
}

/** A daemon that probes targets. */
export interface CheckSweeperRow {
  daemon_id: string;
  /** Database time; null where one daemon probes all targets. */
  lease_until: number | null;
  reported_at: number | null;
  /** JSON, for the doctor. */
  report: Json<SweepReport> | null;
}

/** A part of all targets, and the daemon that probes it until its lease ends. */
export interface CheckShardRow {
  shard: number;
  daemon_id: string | null;
  /** Database time. */
  lease_until: number;
}

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
