import { oneLine } from '../one-line.ts';
import type { RunEnd } from './job.ts';

/** Why jobs did not succeed, in sentences. None holds output of a program or a value of the order. */

/** Programs that a signal ended have this and the number of the signal as their exit code. */
const SIGNAL_BASE = 128;
const SIGNAL_MAX = 64;

export function failureReason({ reason = null, exitCode }: Pick<RunEnd, 'reason' | 'exitCode'>): string {
  if (reason !== null && reason !== '') return oneLine(reason);
  if (exitCode === null) return 'The run could not be carried out; the log of the daemon says why.';
  const signal = exitCode - SIGNAL_BASE;
  const ofSignal = signal > 0 && signal <= SIGNAL_MAX ? ` (signal ${signal})` : '';
  return `The program ended with exit code ${exitCode}${ofSignal}.`;
}

/** The job was claimed, and the store did not confirm it. */
export const UNCONFIRMED_REASON = 'The store failed when the job was to start; its program was not started.';

/** `node` is null for a daemon of an early build. */
export function deathReason(node: string | null): string {
  return `The daemon${node === null ? '' : ` ${node}`} ended while it ran the job.`;
}

/** `isOverdue`: the daemon could not renew its lease in time. */
export function stopReason(isOverdue: boolean): string {
  return isOverdue ? 'The daemon lost the store while it ran the job.' : 'The daemon was stopped while it ran the job.';
}

export function cancelReason(by: string, via: string): string {
  return `Cancelled by ${by} via ${via}.`;
}

interface DecidedFacts {
  readonly id: string;
  readonly state: string;
  readonly decided_by: string | null;
  readonly decided_via: string | null;
  readonly reason: string | null;
}

/** Why a job that waited for this approval is cancelled; null where the approval is not the reason. */
export function refusalReason({ id, state, decided_by: by, decided_via: via, reason }: DecidedFacts): string | null {
  if (state !== 'rejected' && state !== 'expired') return null;
  const who = by === null ? '' : ` by ${by}${via === null ? '' : ` via ${via}`}`;
  const what = state === 'rejected' ? `was rejected${who}` : 'expired without a decision';
  return `Approval ${id} ${what}${reason === null ? '.' : `: ${oneLine(reason)}`}`;
}
