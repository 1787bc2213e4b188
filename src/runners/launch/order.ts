import type { AccountIds } from '../../domain/jobs/account.ts';
import type { SandboxPolicy } from '../sandbox/policy.ts';

/** Limits of the tool's process, inherited by its children. */
interface ResourceLimits {
  /** RLIMIT_AS. Beyond it an allocation of memory fails in the process that asks for it. */
  readonly addressSpaceBytes?: number;
}

/** What is started. No text holds a NUL. */
export interface LaunchOrder {
  /** The program, looked up in PATH of `env` unless it has a slash, and its arguments. */
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
