import type { AccountIds } from '../../domain/jobs/account.ts';
import type { SandboxPolicy } from './policy.ts';

/** What the daemon and a launcher say to each other on descriptor 3: one JSON text for each line. */

/** The descriptor on which a launcher receives its order. */
export const CONTROL_FD = 3;

/** A longer order is refused. It is read into memory at once; the kernel itself takes about 2 MiB of arguments. */
export const ORDER_MAX_BYTES = 1024 * 1024;

/** Limits of the tool's process, inherited by its children. */
export interface ResourceLimits {
  /** RLIMIT_AS. Beyond it an allocation of memory fails in the process that asks for it. */
  readonly addressSpaceBytes?: number;
}

/** What a launcher starts, once. */
export interface LaunchOrder {
  /** The program, looked up in PATH of `env` unless it has a slash, and its arguments. No text holds a NUL. */
  readonly argv: readonly string[];
  /** The whole environment of the tool. */
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path. */
  readonly cwd: string;
  /** `null` starts the tool without a sandbox: a privileged run. */
  readonly policy: SandboxPolicy | null;
  /**
   * The account that the tool runs as, without supplementary groups; the daemon's own by default. Only root may change
   * it.
   */
  readonly account?: AccountIds | null;
  readonly limits?: ResourceLimits;
}

/** What a launcher found out before it waits for its order. */
export interface LauncherReady {
  readonly ready: true;
  /** The ABI of Landlock, 0 without it. */
  readonly abi: number;
  /** Why sandboxed orders will be refused, or null. */
  readonly problem: string | null;
  /** When the process started, in ticks since boot: with the pid it names the process for ever. 0 when unknown. */
  readonly startTicks: number;
  /** The read ends, in the launcher, of the pipes that become the tool's output; null where it inherits its own. */
  readonly output: { readonly stdout: number; readonly stderr: number } | null;
}

/** Said right before the tool is executed: the end of the connection after it means that the tool runs. */
interface LauncherExecuting {
  readonly executing: true;
}

export type LaunchProblem = 'refused' | 'not_found' | 'not_executable';

export interface LauncherFailed {
  readonly error: string;
  readonly problem: LaunchProblem;
}

export type LauncherReport = LauncherReady | LauncherExecuting | LauncherFailed;

/** One line of a launcher. Throws for what is no report: a launcher that says anything else is not believed. */
export function parseReport(line: string): LauncherReport {
  const report = JSON.parse(line) as unknown;
  if (typeof report !== 'object' || report === null || !REPORT_MEMBERS.some((member) => Object.hasOwn(report, member)))
    throw new Error('a launcher sent a line that is no report');
  return report as LauncherReport;
}

/** One of them is in each report, and says of which kind it is. */
const REPORT_MEMBERS = ['ready', 'executing', 'error'];

/** As a shell would exit for a command that it can't start: 127 when it is missing, 126 otherwise. */
export function exitCodeOf(problem: LaunchProblem): 126 | 127 {
  return problem === 'not_found' ? 127 : 126;
}
