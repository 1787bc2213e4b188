import type { DataDirPaths } from '../config/data-dir.ts';
import type { JobIdentity } from '../config/job-account.ts';
import type { Settings } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';

/** What an examination found. `unknown`: it could not be told; nothing is known to be wrong. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail' | 'unknown';
  /** One line for people: states, counts, modes and names of files. Never a secret or a value that an operator gave. */
  readonly detail: string;
}

export interface DoctorEntry extends Finding {
  readonly name: string;
}

interface Listener {
  readonly name: string;
  readonly url: string;
}

/** What the doctor looks at. `app.ts` provides it; none of it has to be sound. */
export interface DoctorParts {
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'sealKeyFile' | 'toolchainManifest' | 'jobUser'>;
  readonly paths: DataDirPaths;
  /** The open store of this process. Throws the reason why there is none. */
  readonly openedStore: () => Store;
  /** Tries the kernel sandbox. `detail` says what works, or what the kernel lacks. */
  readonly sandbox: () => Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** Whom jobs run as, in a program that runs them; elsewhere it is looked up. */
  readonly jobIdentity?: JobIdentity;
  /** The listeners that this process should have; empty where it serves nothing. */
  readonly listeners: () => readonly Listener[];
  /** How many targets the daemon was given by `--notify`; null in a program that sends no pages, where nobody knows. */
  readonly targets: number | null;
  /** PATH, where the optional tools are looked for. */
  readonly path: string;
}

/** The parts, and both clocks as they were when the process began. */
export interface Facts extends DoctorParts {
  readonly began: { readonly wallMs: number; readonly monotonicMs: number };
}

export type Examine = (facts: Facts) => Promise<Finding>;

export const ok = (detail: string): Finding => ({ status: 'ok', detail });
export const warn = (detail: string): Finding => ({ status: 'warn', detail });
export const fail = (detail: string): Finding => ({ status: 'fail', detail });
export const unknown = (detail: string): Finding => ({ status: 'unknown', detail });
