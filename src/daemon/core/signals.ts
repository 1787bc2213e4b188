import { EventEmitter } from 'node:events';
import type { FinalState } from '../../domain/jobs/job.ts';

/** The signals of the daemon, for the log, the metrics and the tests. */
interface DaemonSignals {
  'job:started': [{ jobId: string }];
  'job:finished': [{ jobId: string; state: FinalState; exitCode: number | null }];
  'job:fenced': [{ jobId: string }];
  'job:rescued': [{ jobId: string; daemonId: string }];
  /** Processes of a dead daemon's job survived SIGKILL: the job keeps its key, and the next pass tries again. */
  'job:stuck': [{ jobId: string; left: readonly number[] }];
  'lease:lost': [{ daemonId: string }];
  'loop:done': [{ name: string; did: Readonly<Record<string, number>> }];
  'loop:failed': [{ name: string; error: unknown }];
  /** The first pass without an error after one that failed. */
  'loop:recovered': [{ name: string }];
}

export type Signals = EventEmitter<DaemonSignals>;

export function createSignals(): Signals {
  const signals = new EventEmitter<DaemonSignals>();
  signals.setMaxListeners(50);
  return signals;
}
