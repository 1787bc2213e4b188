import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * The mark of a job is a limit on the time that its processes may compute as real-time tasks, too high to limit
 * anything. A process inherits it, also with an empty environment and in another session, and the filter of the sandbox
 * refuses to change it. Every process can read it in /proc.
 */

export const RLIMIT_RTTIME = 15;

/** In microseconds, 146,000 years. What a mark has above it is derived from the id of the job. */
const LEAST_MARK = 1n << 62n;
const ID_BYTES = 6;

export function markOf(jobId: string): bigint {
  return LEAST_MARK + BigInt(createHash('sha256').update(jobId).digest().readUIntBE(0, ID_BYTES));
}

/** Returns the mark in a process, of whichever job; null without a mark or without such a process. */
export function markIn(pid: number): bigint | null {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    const limit = BigInt(/^Max realtime timeout +\S+ +(\d+)/m.exec(limits)?.[1] ?? 0);
    return limit < LEAST_MARK ? null : limit;
  } catch {
    return null;
  }
}
