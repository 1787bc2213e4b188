/** What the daemon tells its guard on descriptor 3: one JSON text for each line. The guard says one line, when it is ready. */

export interface Watched {
  readonly jobId: string;
  readonly pid: number;
  readonly startTicks: number;
}

/** Counted from the moment when it is received, in milliseconds of the monotonic clock. */
export interface LeaseLimits {
  readonly untilTermMs: number;
  readonly untilKillMs: number;
}

export type GuardMessage =
  | { readonly watch: Watched }
  | { readonly unwatch: string }
  | { readonly renew: LeaseLimits }
  | { readonly stop: true };

export const GUARD_CONTROL_FD = 3;
