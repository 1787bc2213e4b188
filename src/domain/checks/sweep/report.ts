import type { TargetStatus } from '../check.ts';

/** What a daemon says of the last minute of its sweep, for the doctor. */
export interface SweepReport {
  readonly targets: number;
  readonly probes: number;
  /** Probes that began late, because more were due than may run at a time. */
  readonly late: number;
  readonly longestLateMs: number;
  /** Probes that took longer than the interval of their check. */
  readonly slow: number;
  /** Probes that count for nothing, because the canary was unreachable. */
  readonly missed: number;
}

/** Of a short interval, the share that a probe may begin late; of a long one, the milliseconds. */
const LATE_SHARE = 0.5;
const LATE_MS = 5_000;

/** Counts probes until `take` begins a new report. */
export class SweepCounter {
  #counts = { probes: 0, late: 0, longestLateMs: 0, slow: 0, missed: 0 };

  note(probe: { lateMs: number; tookMs: number; intervalMs: number; isMissed: boolean }): void {
    const { lateMs, tookMs, intervalMs, isMissed } = probe;
    this.#counts.probes += 1;
    if (lateMs >= Math.min(intervalMs * LATE_SHARE, LATE_MS)) this.#counts.late += 1;
    this.#counts.longestLateMs = Math.max(this.#counts.longestLateMs, Math.round(lateMs));
    if (tookMs > intervalMs) this.#counts.slow += 1;
    if (isMissed) this.#counts.missed += 1;
  }

  take(targets: number): SweepReport {
    const report = { targets, ...this.#counts };
    this.#counts = { probes: 0, late: 0, longestLateMs: 0, slow: 0, missed: 0 };
    return report;
  }
}

/** What is exported of a target as metrics. */
export interface CheckSample {
  readonly check: string;
  readonly target: string;
  readonly status: TargetStatus;
  /** Of the last probe; null before it. */
  readonly durationMs: number | null;
  readonly certificateDays: number | null;
}
