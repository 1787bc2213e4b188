import type { ThisMachine } from '../../domain/new-program.ts';
import type { ProgramFiles } from '../../domain/program.ts';
import type { Work } from '../../store/engine/tx.ts';

declare module '../core/services.ts' {
  interface Services {
    /** Whether this process has a job queue; the maintenance routes are `unavailable` without. */
    readonly hasQueue: boolean;
    readonly programs: Programs;
    /** When a daemon with a lock was last seen, in milliseconds since the epoch; null if unknown. */
    lockSeenAt(daemonId: string): number | null;
    /**
     * Reads settings again and says what would change; absent in a process that is not the daemon. The command line
     * asks the daemon, which has done it then. Throws invalid_argument.
     */
    readonly reload?: () => Promise<Reload>;
  }
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
