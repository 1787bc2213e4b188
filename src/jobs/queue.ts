import type { Scope } from '../domain/access/scope.ts';
import type { Origin } from '../domain/approvals/approval.ts';
import type { EventFacts } from '../domain/events/event.ts';
import type { JobTrigger } from '../domain/jobs/job.ts';
import { newId } from '../lib/id.ts';
import { toJson } from '../lib/json.ts';
import { insertApproval } from '../store/approvals/approvals.ts';
import type { Tx, Work } from '../store/engine/tx.ts';
import { insertJob, type NewJob } from '../store/jobs/jobs.ts';
import { noteUnread } from '../store/jobs/pinned-files.ts';
import type { ApprovalRow } from '../store/schema/schema.ts';
import { missingScopes } from './deciders.ts';
import { isHeld } from './held.ts';
import { pinsOf } from './pins/pin.ts';

/**
 * The only way to make a job, for a person, a rule or a schedule. A refusal is a Failure thrown before anything is
 * written, so that the caller can record it in the same transaction. Code of one kind is in the folder of its area.
 */

export interface QueueDeps {
  /** Called when a job may be claimable, or a new deadline exists. */
  wake(): void;
  /** Claims jobs in the commit that queues one, where this process runs jobs and has a free slot. */
  readonly claimNow?: Work<void>;
  /** Time to live of an approval that a policy requires, in milliseconds. */
  readonly approvalTtlMs: number;
}

/** For whom a job is made. */
export interface Asker {
  readonly trigger: JobTrigger;
  readonly requestedBy: string;
  /** The asking chain, the root first: none of them may decide about it. */
  readonly owners: readonly string[];
  /** Set for a job that a rule made; otherwise it is derived from the order. */
  readonly runbook?: string | undefined;
  /** The reason that the requester gave, for people. */
  readonly because?: string | null | undefined;
  /** What the job does, in the words of its author. */
  readonly summary?: string | null | undefined;
  /** What started it all, for what the job makes later; without it somebody asked. */
  readonly provenance?: Provenance;
  /** The event behind it, for what is filled in when the action is queued. */
  readonly event?: EventFacts;
}

/** Where the asking chain began. */
export interface Provenance {
  readonly origin: Origin;
  /** Of the origin `alert`: the event, its rule, and when that matched, in milliseconds since the epoch. */
  readonly alert?: string;
  readonly rule?: string;
  readonly matchedAt?: number;
  /** Of the origin `schedule`: its name. */
  readonly schedule?: string;
}

/** The approval by a person that a job needs before it is queued. */
export interface Gate extends Provenance {
  readonly ttlMs: number;
  /** Whether the rule allows that one tap approves its command. */
  readonly oneTap?: boolean;
}

export type Queued =
  | {
      readonly state: 'queued';
      readonly jobId: string;
      /** Neither a person nor a policy reviewed it: the audit row records that. */ readonly ungated: boolean;
    }
  | {
      readonly state: 'awaiting_approval';
      readonly jobId: string;
      readonly approval: ApprovalRow;
      /** See `missingScopes`. */
      readonly missing: readonly Scope[];
    };

/** The write that makes jobs of one order: for whom, and what they wait for. */
export interface Queueing {
  readonly tx: Tx;
  readonly deps: QueueDeps;
  readonly asker: Asker;
  /** Null: the job is queued without an approval, unless a policy requires one. */
  readonly gate: Gate | null;
}

/** The saved plan that an approval is about: exactly the one that was made. */
interface PinnedPlan {
  readonly id: string;
  readonly digest: string;
  readonly serial: number;
}

type Write = Pick<Queueing, 'tx' | 'deps'>;

/** The columns of a new job that do not depend on its kind. */
export function newJob({ tx, asker }: Pick<Queueing, 'tx' | 'asker'>, runbook: string) {
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
    because: asker.because ?? null,
  } as const;
}

/** Queues the job; where there is a gate, or its inventory or source asks for one, after an approval. */
export async function queueOrAsk(queueing: Queueing, job: NewJob): Promise<Queued> {
  const gate = queueing.gate ?? (await gateOfPlace(queueing, job));
  return gate === null ? queueJob(queueing, job, false) : askFirst(queueing, job, gate);
}

/** What the inventory or the source of a job asks for; null where they ask for nothing. */
export async function gateOfPlace(
  { tx, deps, asker }: Pick<Queueing, 'tx' | 'asker'> & { readonly deps: Pick<QueueDeps, 'approvalTtlMs'> },
  job: NewJob,
): Promise<Gate | null> {
  if (!(await isHeld(tx, job))) return null;
  return { ...(asker.provenance ?? { origin: 'manual' }), ttlMs: deps.approvalTtlMs };
}

export async function queueJob({ tx, deps }: Write, job: NewJob, ungated: boolean): Promise<Queued> {
  await insertJob(tx, job);
  const wake = (): void => deps.wake();
  if (deps.claimNow === undefined) tx.afterCommit(wake);
  else {
    tx.follow(deps.claimNow, wake);
    tx.announce();
  }
  return { state: 'queued', jobId: job.id, ungated };
}

/** The job waits, and with it an approval. What it names is pinned as it is now. */
export async function askFirst(
  { tx, deps }: Write,
  job: NewJob,
  gate: Gate,
  plan: PinnedPlan | null = null,
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
    summary: job.summary ?? null,
    because: job.because ?? null,
    ttlMs: gate.ttlMs,
  });
  const pinned = await pinsOf(tx, job);
  const column = pinned === null ? null : toJson(pinned);
  await insertJob(tx, { ...job, state: 'awaiting_approval', expiresAt: approval.expires_at, pinned: column });
  if (pinned?.files !== undefined) await noteUnread(tx, job.id);
  // The daemon has a new deadline, and perhaps files to read.
  tx.afterCommit(() => deps.wake());
  return { state: 'awaiting_approval', jobId: job.id, approval, missing: await missingScopes(tx, job.owners, tx.now) };
}

/** For the ledger: the approval that a job waits for, or that neither a policy nor a person looks at it. */
export function queuedDetail(queued: Queued): { readonly ungated?: true; readonly approval_id?: string } {
  if (queued.state === 'awaiting_approval') return { approval_id: queued.approval.id };
  return queued.ungated ? { ungated: true } : {};
}
