import { EventEmitter } from 'node:events';
import type { FinalState } from '../../domain/jobs/job.ts';

/** What the daemon tells; the log, the metrics and the tests listen to the same map. */
interface DaemonSignals {
  'job:started': [{ jobId: string }];
  'job:finished': [{ jobId: string; state: FinalState; exitCode: number | null }];
  'job:fenced': [{ jobId: string }];
  'job:rescued': [{ jobId: string; daemonId: string }];
  /** Not even SIGKILL ended what a dead daemon's job left: it keeps its key and is tried again. */
  'job:stuck': [{ jobId: string; left: readonly number[] }];
  'lease:lost': [{ daemonId: string }];
  'loop:done': [{ name: string; did: Readonly<Record<string, number>> }];
  'loop:failed': [{ name: string; error: unknown }];
}

export type Signals = EventEmitter<DaemonSignals>;

export function createSignals(): Signals {
  const signals = new EventEmitter<DaemonSignals>();
  signals.setMaxListeners(50);
  return signals;
}
