import type { DataDirPaths } from '../../config/data-dir.ts';
import type { CheckSample } from '../../domain/checks/sweep/report.ts';
import type { DoctorEntry } from '../../doctor/entry.ts';
import type { CheckKind, CheckOptions } from '../../domain/checks/check.ts';
import type { ThisMachine } from '../../domain/new-program.ts';
import type { ProgramFiles } from '../../domain/program.ts';
import type { HostKey } from '../../domain/inventories/host-key.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import type { FetchedTree } from '../../domain/sources/source.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Keyring, SealKeeper } from '../../lib/seal.ts';
import type { ProbeResult } from '../../probes/probe.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { OpenJobs } from '../../domain/jobs/open-jobs.ts';
import type { BoundedTotal, Work } from '../../store/engine/tx.ts';
import type { CurrentNetgroups } from '../../store/netgroups/netgroups.ts';
import type { SourcePlace } from '../../store/sources/source-place.ts';

/** What operations ask of the process they run in. `app.ts` provides it. */
export interface Services {
  readonly clock: Clock;
  readonly server: { readonly version: string; readonly hostname: string | null; readonly startedAt: number | null };
  /** Whether this process has a job queue; the maintenance routes are `unavailable` without. */
  readonly hasQueue: boolean;
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
  readonly programs: Programs;
  /** When a daemon with a lock was last seen, in milliseconds since the epoch; null if unknown. */
  lockSeenAt(daemonId: string): number | null;
  doctor(): Promise<readonly DoctorEntry[]>;
  /** Makes the secret part of a token: salted, memory-hard, keyed by the seal key file. */
  hashToken(secret: string, salt: Uint8Array): Promise<Uint8Array>;
  /** What seals and opens; read from the key file, or made, when it is first needed. */
  keyring(): Promise<Keyring>;
  /** The key file itself, for who rotates or examines it. */
  readonly seal: SealKeeper;
  readonly sources: SourceFetcher;
  readonly hostKeys: HostKeyScanner;
  readonly outside: OutsideChecker;
  /** Places of files, with those that settings name. */
  readonly paths: DataDirPaths;
  readonly reaction: ReactionDeps;
  /** Follows the netgroups of the store. */
  readonly netgroups: CurrentNetgroups;
  /** What this process knows of the targets that it probes; empty where it probes none. */
  readonly checkSamples: () => readonly CheckSample[];
  /** What waits and runs, for the metrics. */
  openJobs(): Promise<OpenJobs>;
  /** Probes targets of checks for users. */
  readonly prober: TargetProber;
  /** How many probes the enabled checks may take. */
  readonly probeBudget: BoundedTotal;
  /** Default time to live of a request for approval, in milliseconds. */
  readonly approvalTtlMs: number;
  /**
   * Reads settings again and says what would change; absent in a process that is not the daemon. The command line asks
   * the daemon, which has done it then. Throws invalid_argument.
   */
  readonly reload?: () => Promise<Reload>;
  /**
   * What the URLs of hooks and decision links begin with: `--public-url`, else the ingress listener's own URL. It may
   * have to be looked up, so it is asked for before a transaction is open.
   */
  linkOrigin(): Promise<string>;
  /** The public key that browsers subscribe to notifications with, base64url. */
  pushKey(): Promise<string>;
}

/** The files of programs on this machine. */
interface Programs {
  readonly here: ThisMachine;
  /** One digest of all files as they are now. Throws `conflict` for a program that must not be started. */
  readonly digest: (program: ProgramFiles) => Promise<string>;
}

/** Settings that were read again and checked. */
export interface Reload {
  /** How many targets of notifications there will be. */
  readonly transports: number;
  /** Flags of settings that have another value now and are read only at a start. */
  readonly restartNeeded: readonly string[];
  /** Records it; it takes effect with the commit. */
  readonly write: Work<void>;
}

/** Checks directories that jobs may write, on this machine. */
export interface OutsideChecker {
  /** Throws invalid_argument for one that does not exist or that no job may write. */
  check(paths: readonly string[]): void;
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

/** Asks hosts for their public keys. */
export interface HostKeyScanner {
  /** Throws `unavailable` for one that does not answer. */
  scan(target: { readonly address: string; readonly port: number }): Promise<readonly HostKey[]>;
}

/** Brings the files of sources into the data directory, from where each run takes its private copy. */
export interface SourceFetcher {
  /**
   * Throws Failure with the tool's own words, cleaned. A directory is only looked at: it must exist, have no link in
   * its path, and neither lie in the data directory nor hold it. `signal` ends a fetch that has no waiting caller.
   */
  fetch(place: SourcePlace, signal?: AbortSignal): Promise<FetchedTree>;
  /**
   * Where the files of a fetched source are; null when this machine does not have that commit or directory. Throws
   * conflict for another directory than the one that was named.
   */
  treeOf(place: SourcePlace): Promise<Tree | null>;
  remove(name: string): Promise<void>;
  /**
   * The lifecycle hooks file at the root of a tree, as it is spelt there; null without one. Rejects for what is no
   * folder.
   */
  hooksFile(tree: Tree): Promise<string | null>;
  /** Whether there is a file at that path in a tree, and no link of it leads out. */
  hasFile(tree: Tree, path: string): Promise<boolean>;
  /** The digest of the files of a tree, as a plan keeps it. Rejects, with the reason, where a run could not copy it. */
  digestOf(tree: Tree, signal?: AbortSignal): Promise<string>;
  /** The same of all that a run copies, states too; without plugins where it leaves them out. */
  wholeDigestOf(tree: Tree, leavesPlugins: boolean, signal?: AbortSignal): Promise<string>;
  /** The names of the hooks that it declares. */
  hookNames(tree: Tree, file: string): Promise<readonly string[]>;
}
