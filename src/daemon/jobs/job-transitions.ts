import { KINDS } from '../../domain/kinds.ts';
import type { Waiting } from '../../runners/launch/tool.ts';
import { appendState } from '../../store/jobs/chunks.ts';
import { claimJobs, fenceOf, finishJob, recordLeader, type Fence, type JobEnd } from '../../store/jobs/claims.ts';
import { mayClaimNow } from '../../store/maintenance/cordon.ts';
import { mayClaim } from '../../store/maintenance/leases.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { JobRow } from '../../store/schema/schema.ts';

/** The state transitions by the daemon, each with its event and its audit row in the same transaction. */

/** A job that this daemon now runs, and the sequence number at which its output continues. */
export interface Claimed {
  readonly row: JobRow;
  readonly lastSeq: number;
  /** Recorded as its leader: the process that waits to become its first program. */
  readonly child: Waiting | null;
}

/** The daemon that claims. */
export interface Claimer {
  readonly id: string;
  readonly node: string;
}

/** Claims up to `limit` jobs, those that start at once with a child of `nextChild`; none while cordoned. */
export async function claim(
  tx: Tx,
  { id: daemonId, node }: Claimer,
  limit: number,
  nextChild: () => Waiting | null = () => null,
): Promise<Claimed[]> {
  if (!(await mayClaimNow(tx, node)) || !(await mayClaim(tx, daemonId))) return [];
  const claimed: Claimed[] = [];
  for (const row of await claimJobs(tx, daemonId, limit)) {
    // A row that somebody wrote may have any kind: its run is refused, and the others are claimed.
    const startsAtOnce = Object.hasOwn(KINDS, row.kind) && KINDS[row.kind].startsAtOnce;
    const child = startsAtOnce ? nextChild() : null;
    if (child !== null) await recordLeader(tx, fenceOf(row), child);
    claimed.push({ row, child, lastSeq: await appendState(tx, row.id, 'running', null) });
    recordMove(tx, daemonId, 'job.start', row.id, {});
  }
  return claimed;
}

/** Ends a run. False, and nothing written, when the run had lost its job. */
export async function endJob(tx: Tx, fence: Fence, end: JobEnd, by: 'run' | 'rescue'): Promise<boolean> {
  if (!(await finishJob(tx, fence, end))) return false;
  await appendState(tx, fence.jobId, end.state, end.exitCode);
  recordMove(tx, fence.daemonId, 'job.end', fence.jobId, { state: end.state, exit_code: end.exitCode, by });
  return true;
}

/** Records an action of the daemon in the audit ledger. */
export function recordMove(
  tx: Tx,
  daemonId: string,
  operation: string,
  target: string,
  detail: Record<string, unknown>,
): void {
  tx.record({ principal: `daemon:${daemonId}`, owner: 'gatehouse', via: 'daemon', operation, target, detail });
}

/** As `recordMove`, in the name of the service: it does not matter which daemon acts. */
export function recordService(tx: Tx, operation: string, target: string, detail: Record<string, unknown>): void {
  tx.record({ principal: 'gatehouse', owner: 'gatehouse', via: 'daemon', operation, target, detail });
}
