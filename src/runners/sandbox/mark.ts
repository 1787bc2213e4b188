import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Carries the job's id into every process of its tree, so that each can be found again. */
export const JOB_ID_VARIABLE = 'SVC_JOB_ID';

/**
 * The mark of a job: a limit on the time that its processes may compute as real-time tasks, so high that it limits
 * nothing. Every process inherits it, the environment may be wiped and the session left, and the filter of the sandbox
 * refuses to change it. Every process can read it.
 */

export const RLIMIT_RTTIME = 15;

/** In microseconds; above it, the job's id. 150,000 years: whatever a job computes, it stays below. */
const LEAST_MARK = 1n << 62n;
const ID_BYTES = 6;

export function markOf(jobId: string): bigint {
  return LEAST_MARK + BigInt(createHash('sha256').update(jobId).digest().readUIntBE(0, ID_BYTES));
}

/** The mark of whichever job a process belongs to; null without one, or without such a process. */
export function markIn(pid: number): bigint | null {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    const limit = BigInt(/^Max realtime timeout +\S+ +(\d+)/m.exec(limits)?.[1] ?? 0);
    return limit < LEAST_MARK ? null : limit;
  } catch {
    return null;
  }
}
