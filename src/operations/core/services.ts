import type { DataDirPaths } from '../../config/data-dir.ts';
import type { DoctorEntry } from '../../doctor/entry.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { OpenJobs } from '../../domain/jobs/open-jobs.ts';
import type { Work } from '../../store/engine/tx.ts';
import type { CurrentNetgroups } from '../../store/netgroups/netgroups.ts';

/**
 * What operations ask of the process they run in. `app.ts` provides it. What one area alone asks is declared in the
 * `services.ts` of that area.
 */
export interface Services {
  readonly clock: Clock;
  readonly server: {
    readonly version: string;
    readonly hostname: string | null;
    readonly startedAt: number | null;
    /** Of times on pages, beside UTC. */
    readonly timeZone: string;
  };
  /** A job may have become claimable, a cancel was asked, or the cordon was lifted. */
  wake(): void;
  /** See QueueDeps. */
  readonly claimNow?: Work<void>;
  /** Resolves when the job may have new events, or when `signal` aborts. Spurious wake-ups are allowed. */
  jobChanged(jobId: string, signal: AbortSignal): Promise<void>;
  /** Tells the followers of a job in this process that it has new events. */
  announceJob(jobId: string): void;
  /** The name of the daemon in this process; null in other programs, and until the daemon has started. */
  readonly node: () => string | null;
  doctor(): Promise<readonly DoctorEntry[]>;
  /** What seals and opens; read from the key file, or made, when it is first needed. */
  keyring(): Promise<Keyring>;
  readonly outside: OutsideChecker;
  /** Places of files, with those that settings name. */
  readonly paths: DataDirPaths;
  readonly reaction: ReactionDeps;
  /** Follows the netgroups of the store. */
  readonly netgroups: CurrentNetgroups;
  /** What waits and runs, for the metrics. */
  openJobs(): Promise<OpenJobs>;
  /** Default time to live of a request for approval, in milliseconds. */
  readonly approvalTtlMs: number;
  /**
   * What the URLs of hooks and decision links begin with: `--public-url`, else the ingress listener's own URL. It may
   * have to be looked up, so it is asked for before a transaction is open.
   */
  linkOrigin(): Promise<string>;
  /** The public key that browsers subscribe to notifications with, base64url. */
  pushKey(): Promise<string>;
}

/** Checks directories that jobs may write, on this machine. */
export interface OutsideChecker {
  /** Throws invalid_argument for one that does not exist or that no job may write. */
  check(paths: readonly string[]): void;
}
