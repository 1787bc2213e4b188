import type { TargetStatus } from '../check.ts';

/** Of the last minute of a sweep. */
interface SweepCounts {
  readonly probes: number;
  /** Probes that began late, because more were due than may run at a time. */
  readonly late: number;
  readonly longestLateMs: number;
  /** Probes that took longer than the interval of their check. */
  readonly slow: number;
  /** Probes that count for nothing, because the canary was unreachable. */
  readonly missed: number;
  /** Probes that this machine or program could not make: they count for nothing. */
  readonly faults: number;
}

/** What a daemon says of its sweep, for the doctor. */
export interface SweepReport extends SweepCounts {
  readonly targets: number;
  /** Checks of probes that count as `faults`, at most FAULTY_CHECKS_MAX, with the last reason. */
  readonly faulty: readonly { readonly check: string; readonly reason: string }[];
}

const FAULTY_CHECKS_MAX = 5;

/** Of a short interval, the share that a probe may begin late; of a long one, the milliseconds. */
const LATE_SHARE = 0.5;
const LATE_MS = 5_000;

/** Counts probes until `take` begins a new report. */
export class SweepCounter {
  #counts = noCounts();
  #faulty = new Map<string, string>();

  /** `fault`: the reason why the probe could not be made. */
  note(probe: {
    readonly check: string;
    readonly lateMs: number;
    readonly tookMs: number;
    readonly intervalMs: number;
    readonly isMissed: boolean;
    readonly fault: string | null;
  }): void {
    const { check, lateMs, tookMs, intervalMs, isMissed, fault } = probe;
    this.#counts.probes += 1;
    if (lateMs >= Math.min(intervalMs * LATE_SHARE, LATE_MS)) this.#counts.late += 1;
    this.#counts.longestLateMs = Math.max(this.#counts.longestLateMs, Math.round(lateMs));
    if (tookMs > intervalMs) this.#counts.slow += 1;
    if (isMissed) this.#counts.missed += 1;
    if (fault === null) return;
    this.#counts.faults += 1;
    if (this.#faulty.size < FAULTY_CHECKS_MAX || this.#faulty.has(check)) this.#faulty.set(check, fault);
  }

  take(targets: number): SweepReport {
    const faulty = [...this.#faulty].map(([check, reason]) => ({ check, reason }));
    const report = { targets, ...this.#counts, faulty };
    this.#counts = noCounts();
    this.#faulty = new Map();
    return report;
  }
}

function noCounts(): { -readonly [K in keyof SweepCounts]: number } {
  return { probes: 0, late: 0, longestLateMs: 0, slow: 0, missed: 0, faults: 0 };
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
