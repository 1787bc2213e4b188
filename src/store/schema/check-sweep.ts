import type { SweepReport } from '../../domain/checks/sweep/report.ts';
import type { Json } from '../../lib/json.ts';

/** The tables of the sweep of checks. See schema.ts for the conventions. */

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
