import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

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

/** False also where there is no such process. */
export function hasMark(pid: number, mark: bigint): boolean {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    return /^Max realtime timeout +\S+ +(\S+)/m.exec(limits)?.[1] === String(mark);
  } catch {
    return false;
  }
}
