import type { AccountIds } from '../../domain/jobs/account.ts';
import type { OutputPipes } from '../launch/tool.ts';
import type { EntryOf } from '../run-files/unlink-in.ts';

/**
 * What the daemon tells its guard on descriptor 3: one JSON text for each line. The guard says one line, when it is
 * ready.
 */

export interface Watched {
  readonly jobId: string;
  readonly pid: number;
  readonly startTicks: number;
  /** What the programs run as, where that is another account than the daemon's. */
  readonly account?: AccountIds | null;
  /** See EndTreeOptions. */
  readonly termDir: string | null;
  readonly leaderFirst: boolean;
  /**
   * The pipes of the output. The guard opens them too, and reads on when the daemon is gone: a tool that loses the
   * reader of its output dies of that, before it has stopped in order. Null where that is what the kind of job is used
   * to.
   */
  readonly output: OutputPipes | null;
  /** Files that are removed when the daemon is gone and the tree is ended: what lay there in clear for the tool. */
  readonly remove: readonly EntryOf[];
}

/** Counted from the moment when it is received, in milliseconds of the monotonic clock. */
export interface LeaseLimits {
  readonly untilTermMs: number;
  readonly untilKillMs: number;
  /** Where later limits are (`lease-times.ts`), which a busy daemon cannot send. Null where there is no such file. */
  readonly file: string | null;
}

export type GuardMessage =
  | { readonly watch: Watched }
  | { readonly unwatch: string }
  | { readonly renew: LeaseLimits }
  | { readonly stop: true };

export const GUARD_CONTROL_FD = 3;
