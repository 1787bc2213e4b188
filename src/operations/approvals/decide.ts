import { DECISIONS, type Decision } from '../../domain/approvals/approval.ts';
import { subjectOf } from '../../domain/events/causes.ts';
import { readPinned } from '../../domain/approvals/pinned.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobState } from '../../domain/jobs/job.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { stillHolds } from '../../jobs/standing.ts';
import { getApproval, holdApproval, settle } from '../../store/approvals/approvals.ts';
import { leaveCause } from '../../store/events/causes.ts';
import { appendState } from '../../store/jobs/chunks.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { cancelWaiting, queueApproved } from '../../store/jobs/claims.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import type { FilesLook } from './pinned-files.ts';
import { isAsking } from './approval-links.ts';
import { checkRequest } from './checked-request.ts';
import { actorOf } from '../core/reply.ts';
import type { Services } from '../core/services.ts';

interface Decider {
  readonly name: string;
  /** The owner of the credential: an owner in the asking chain may not decide. */
  readonly owner: string;
  /** The face: `api`, `cli`, `web`, `mcp` or `link`. */
  readonly via: string;
}

interface DecisionRequest {
  readonly approvalId: string;
  readonly decision: Decision;
  readonly reason: string | null;
  readonly decider: Decider;
  /** What `lookAtFiles` found before the transaction. */
  readonly files: FilesLook;
}

export interface Decided {
  readonly approval: ApprovalRow;
  readonly jobState: Extract<JobState, 'queued' | 'cancelled'>;
}

interface DecideHome {
  readonly store: Pick<Store, 'dialect'>;
  readonly services: Pick<Services, 'wake' | 'announceJob'>;
}

/**
 * The one way to decide, for every face. Fail-closed: only a clear yes or no of a person who is no requester, in time,
 * changes anything; a yes also needs that what was asked about is as it was then. Throws not_found, conflict (settled
 * already, past the deadline, or changed since), forbidden (the decider's owner is in the asking chain) and stale_plan
 * with `stale`. The caller writes the row of the ledger.
 */
export async function decide(runtime: DecideHome, tx: Tx, request: DecisionRequest): Promise<Decided> {
  const { approvalId, decision, reason, decider, files } = request;
  if (!DECISIONS.includes(decision))
    throw new Failure('invalid_argument', `decision: expected one of ${DECISIONS.join(', ')}.`);
  const approval = await holdApproval(tx, approvalId);
  if (approval.state !== 'pending') throw settledAlready(approval);
  if (approval.expires_at <= (await tx.dialect.clock(tx.db, tx.now))) throw tooLate(approval);
  refuseAsker(approval, decider.owner);
  if (decision === 'approve') {
    await refuseStale(tx, approval);
    // What somebody wrote into the database is approved by no one.
    await checkRequest(tx, approval);
    await refuseOtherFiles(tx, approval, files);
  }
  const to = decision === 'approve' ? 'approved' : 'rejected';
  const settled = await settle(tx, approvalId, {
    to,
    by: decider.name,
    via: decider.via,
    reason,
    owner: decider.owner,
  });
  if (settled === undefined) throw outOfTime(await getApproval(tx.db, approvalId));
  const jobState = await release(tx, settled);
  await leaveCause(tx, subjectOf('job', settled.job_id), decider.owner);
  tx.afterCommit(() => {
    runtime.services.announceJob(settled.job_id);
    runtime.services.wake();
  });
  return { approval: settled, jobState };
}

/** Moves the job as the settled approval says. A job that does not wait any more undoes the decision. */
async function release(tx: Tx, { id, job_id: jobId, state }: ApprovalRow): Promise<'queued' | 'cancelled'> {
  const to = state === 'approved' ? 'queued' : 'cancelled';
  const moved = to === 'queued' ? await queueApproved(tx, jobId) : await cancelWaiting(tx, jobId, 'awaiting_approval');
  if (!moved) throw new Failure('conflict', `Job ${jobId} of approval ${id} does not wait for a decision any more.`);
  await appendState(tx, jobId, to, null);
  return to;
}

/**
 * Records that a requester tried to decide. It uses a separate write, because the write of a refused decision is rolled
 * back.
 */
export async function recordRefusal(
  store: Pick<Store, 'write'>,
  decider: Decider,
  approvalId: string,
  decision: Decision,
): Promise<void> {
  await store.write(async (tx) =>
    tx.record({ ...actorOf(decider), operation: 'approval.refused', target: approvalId, detail: { decision } }),
  );
}

/** Throws forbidden for an owner in the asking chain. */
export function refuseAsker(approval: Pick<ApprovalRow, 'id' | 'job_id' | 'owners'>, owner: string): void {
  if (!isAsking(approval, owner)) return;
  throw new Failure(
    'forbidden',
    `${owner} requested this job and cannot decide about it; another person must decide ${approval.id}. ` +
      `To end it: svc job cancel ${approval.job_id}`,
  );
}

function settledAlready({ id, state, decided_at: at, decided_by: by, decided_via: via }: ApprovalRow): Failure {
  const when = at === null ? '' : ` at ${rfc3339(at)}`;
  const who = by === null ? '' : ` by ${by} via ${via ?? 'an unknown face'}`;
  return new Failure('conflict', `Approval ${id} is ${state} already${who}${when}. Nothing was changed.`);
}

function tooLate({ id, expires_at: expiresAt }: ApprovalRow): Failure {
  return new Failure('conflict', `Approval ${id} expired at ${rfc3339(expiresAt)}. Nothing was released.`);
}

/** Why a decision that was possible before is not: another one was first, or the deadline passed. */
function outOfTime(approval: ApprovalRow): Failure {
  return approval.state === 'pending' ? tooLate(approval) : settledAlready(approval);
}

/** Throws stale_plan, or conflict for what was pinned, if the request of the approval is no longer current. */
async function refuseStale(tx: Tx, approval: ApprovalRow): Promise<void> {
  const check = await stillHolds(tx, approval);
  if (check.is === 'good') return;
  if (check.is === 'changed' || check.is === 'unread') throw changed(approval, check.why);
  throw new Failure('stale_plan', refusal(approval, check.why), { stale: check.stale });
}

/** Throws conflict for other files than those of the request. What was compared has to be what is pinned now. */
async function refuseOtherFiles(tx: Tx, approval: ApprovalRow, { pinned, why }: FilesLook): Promise<void> {
  if (why !== null) throw changed(approval, why);
  const now = (await getJob(tx.db, approval.job_id)).pinned;
  if (readPinned(now)?.files === undefined || now === pinned) return;
  throw changed(approval, 'The files of its directory were read only now: look at them, then decide.');
}

function changed(approval: ApprovalRow, why: string): Failure {
  return new Failure('conflict', refusal(approval, why));
}

function refusal({ job_id: jobId }: ApprovalRow, why: string): string {
  return `${why} Nothing was decided. It can be rejected, or cancelled by its requester: svc job cancel ${jobId}`;
}
