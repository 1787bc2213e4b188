import type { JobState } from './job.ts';

/** More jobs of a state are not counted: each scrape of the metrics asks this. */
export const COUNTED_MAX = 10_000;

/** What waits and runs, on all daemons of the store. */
export interface OpenJobs {
  /** By state; COUNTED_MAX stands for that many and more. */
  readonly counts: readonly { readonly state: JobState; readonly count: number }[];
  /** When the job that is queued longest was requested, in milliseconds since the epoch; null without one. */
  readonly oldestQueuedAt: number | null;
}
