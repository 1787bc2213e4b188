import type { Origin } from '../domain/approvals/approval.ts';
import type { JobTrigger } from '../domain/jobs/job.ts';
import { newId } from '../lib/id.ts';
import { insertApproval } from '../store/approvals/approvals.ts';
import type { Tx } from '../store/engine/tx.ts';
import { insertJob, type NewJob } from '../store/jobs/jobs.ts';
import type { ApprovalRow } from '../store/schema/schema.ts';

/**
 * The one way in which a job is made, whoever asks: a person, a rule, a schedule. A refusal is a Failure and comes
 * before anything is written, so that the caller can record it in the same transaction. What is particular to a kind
 * is in the folder of its area.
 */

export interface QueueDeps {
  /** A job may have become claimable, or a deadline has to be kept. */
  wake(): void;
  /** Of what a policy wants asked, in milliseconds. */
  readonly approvalTtlMs: number;
}

/** For whom a job is made. */
export interface Asker {
  readonly trigger: JobTrigger;
  readonly requestedBy: string;
  /** The asking chain, the root first: none of them may decide about it. */
  readonly owners: readonly string[];
  /** Of a job that a rule made; it follows from what is run otherwise. */
  readonly runbook?: string | undefined;
  /** What the job does, in the words of who wrote the order. */
  readonly summary?: string | null | undefined;
}

/** The yes that a job needs before it is queued, asked of people. */
export interface Gate {
  readonly origin: Origin;
  readonly ttlMs: number;
  /** Of the origin `alert`: the event, its rule, and when that matched, in milliseconds since the epoch. */
  readonly alert?: string;
  readonly rule?: string;
  readonly matchedAt?: number;
  /** Whether the rule allows that one tap approves its command. */
  readonly oneTap?: boolean;
  /** Of the origin `schedule`: its name. */
  readonly schedule?: string;
}

export type Queued =
  | {
      readonly state: 'queued';
      readonly jobId: string;
      /** Nobody and no policy looked at it: the audit row says so. */ readonly ungated: boolean;
    }
  | { readonly state: 'awaiting_approval'; readonly jobId: string; readonly approval: ApprovalRow };

/** The saved plan that an approval is about: exactly the one that was made. */
interface PinnedPlan {
  readonly id: string;
  readonly digest: string;
  readonly serial: number;
}

/** The columns of a new job that do not depend on its kind. */
export function newJob(tx: Tx, asker: Asker, runbook: string) {
  return {
    id: newId('job', tx.now),
    state: 'queued',
    runbook: asker.runbook ?? runbook,
    trigger: asker.trigger,
    createdAt: tx.now,
    requestedBy: asker.requestedBy,
    owners: asker.owners,
    redriveOf: null,
    summary: asker.summary ?? null,
  } as const;
}

export async function queueJob(tx: Tx, deps: QueueDeps, job: NewJob, ungated: boolean): Promise<Queued> {
  await insertJob(tx, job);
  tx.afterCommit(() => deps.wake());
  return { state: 'queued', jobId: job.id, ungated };
}

/** The job waits, and with it an approval. */
export async function askFirst(
  tx: Tx,
  deps: QueueDeps,
  job: NewJob,
  gate: Gate,
  plan: PinnedPlan | null,
): Promise<Queued> {
  const approval = await insertApproval(tx, {
    jobId: job.id,
    kind: job.kind,
    policy: 'require_approval',
    workspace: job.workspace,
    runbook: job.runbook,
    planArtifactId: plan?.id ?? null,
    planDigest: plan?.digest ?? null,
    planSerial: plan?.serial ?? null,
    requestedBy: job.requestedBy,
    owners: job.owners,
    origin: gate.origin,
    alert: gate.alert ?? null,
    rule: gate.rule ?? null,
    matched_at: gate.matchedAt ?? null,
    schedule: gate.schedule ?? null,
    one_tap: gate.oneTap === true ? 1 : 0,
    ttlMs: gate.ttlMs,
  });
  await insertJob(tx, { ...job, state: 'awaiting_approval', expiresAt: approval.expires_at });
  // The daemon has a new deadline to keep.
  tx.afterCommit(() => deps.wake());
  return { state: 'awaiting_approval', jobId: job.id, approval };
}
