import type { CheckKind, CheckOptions } from '../../domain/checks/check.ts';
import type { CheckSample } from '../../domain/checks/sweep/report.ts';
import type { ProbeResult } from '../../probes/probe.ts';
import type { BoundedTotal } from '../../store/engine/tx.ts';

declare module '../core/services.ts' {
  interface Services {
    /** What this process knows of the targets that it probes; empty where it probes none. */
    readonly checkSamples: () => readonly CheckSample[];
    /** Probes targets of checks for users. */
    readonly prober: TargetProber;
    /** How many probes the enabled checks may take. */
    readonly probeBudget: BoundedTotal;
  }
}

/** One target to probe. */
export interface ProbeOrder {
  /** The same for every order of one target, as long as the check is not changed. */
  readonly key: string;
  readonly kind: CheckKind;
  readonly options: CheckOptions[CheckKind];
  /** What is dialled, with its credentials. Called when the probe begins. */
  readonly open: () => string;
}

/** Probes at the request of users: a target has one probe at a time, however many ask. */
export interface TargetProber {
  /**
   * Resolves to one result for each order, in the same order. Each `holder` (a token) has a rate limit for new probes,
   * and a limit of those that wait. Throws `unavailable` if one of them is reached or `signal` aborts, and the error of
   * a probe if this machine cannot probe.
   */
  probeAll(holder: string, orders: readonly ProbeOrder[], signal: AbortSignal): Promise<ProbeResult[]>;
}
