import type { DataDirPaths } from '../config/data-dir.ts';
import type { JobIdentity } from '../config/job-account.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { ThisMachine } from '../domain/new-program.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';

/** The result of an examination. `unknown`: it could not be determined; no fault is known. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail' | 'unknown';
  /** One line for people: states, counts, modes and names of files. Never a secret or an operator's value. */
  readonly detail: string;
}

export interface DoctorEntry extends Finding {
  readonly name: string;
}

interface Listener {
  readonly name: string;
  readonly url: string;
}

/** The input of the doctor. Any part of it may be faulty. */
export interface DoctorParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly paths: DataDirPaths;
  /** The open store of this process. Throws the reason if it is not open. */
  readonly openedStore: () => Store;
  /** Tries the kernel sandbox. `detail` names what works, or what the kernel lacks. */
  readonly sandbox: () => Promise<Finding>;
  /** The account of the jobs, in a program that runs them; other programs look it up. */
  readonly jobIdentity?: JobIdentity;
  /** Whether a process has the mark of a job. */
  readonly isOfJob: (pid: number) => boolean;
  readonly here: ThisMachine;
  /** The listeners of this process; empty if it serves nothing. */
  readonly listeners: () => readonly Listener[];
  /** The number of targets of `--notify`; null in a program that sends no notifications. */
  readonly targets: () => number | null;
  /** PATH, to search for the optional tools. */
  readonly path: string;
}

/** The facts, and both clocks at the start of the process. */
export interface Facts extends DoctorParts {
  readonly began: { readonly wallMs: number; readonly monotonicMs: number };
}

export type Examine = (facts: Facts) => Promise<Finding>;

/** An entry names at most this number of things. */
export const NAMED_MAX = 5;

/** The first of several texts, and the number of the others. */
export function named(texts: readonly string[], max = NAMED_MAX): string {
  const more = texts.length > max ? `; ${texts.length - max} more` : '';
  return texts.slice(0, max).join('; ') + more;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail });
export const warn = (detail: string): Finding => ({ status: 'warn', detail });
export const fail = (detail: string): Finding => ({ status: 'fail', detail });
export const unknown = (detail: string): Finding => ({ status: 'unknown', detail });
