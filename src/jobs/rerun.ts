import type { Caller } from '../domain/access/caller.ts';
import { APPROVAL_TTL_MAX_MS } from '../domain/approvals/approval.ts';
import { Failure } from '../domain/failure.ts';
import { isTerminal, type JobTrigger } from '../domain/jobs/job.ts';
import { KINDS } from '../domain/kinds.ts';
import { leavesSandbox } from '../domain/jobs/order.ts';
import { fromJson } from '../lib/json.ts';
import { findApprovalOfJob } from '../store/approvals/approvals.ts';
import type { Tx } from '../store/engine/tx.ts';
import { getJob } from '../store/jobs/jobs.ts';
import { passesTag } from '../store/engine/tags/tags.ts';
import { askedBy } from '../store/jobs/repeats.ts';
import type { ApprovalRow, JobRow } from '../store/schema/schema.ts';
import { refuseFromAfar } from './from-afar.ts';
import { QUEUE_RULES } from './kinds.ts';
import { askFirst, type Gate, gateOfPlace, newJob, type QueueDeps, type Queued, queueJob } from './queue.ts';

/** Who asks for a job again. */
interface Repeater {
  readonly trigger: JobTrigger;
  readonly name: string;
  readonly owner: string;
  /** Whether the request was made on the machine, by who may order what reaches beyond the sandbox. */
  readonly credential: Caller['credential'];
  /** The reason that the requester gave; null without one. */
  readonly because: string | null;
}

/** How jobs come that only an event asks for. */
const OF_EVENTS: readonly JobTrigger[] = ['rule', 'host'];

/**
 * Queues the order of an ended job as a new job, or requests approval again where the old one needed it. Its requesters
 * stay with it: a rerun is no way around a second person's decision. Throws not_found, conflict and forbidden.
 */
export async function rerunJob(tx: Tx, deps: QueueDeps, id: string, by: Repeater): Promise<Queued> {
  // Retention deletes no job that another one is about to name, and nothing changes its workspace from here on.
  await tx.dialect.lockKey(tx.db, 'redrive');
  const old = await getJob(tx.db, id);
  if (old.concurrency_key !== null) await tx.dialect.lockKey(tx.db, old.concurrency_key);
  if (!isTerminal(old.state)) throw new Failure('conflict', `Job ${id} is ${old.state}; expected one that has ended.`);
  if (leavesSandbox(old.privileged === 1, old.spec)) refuseFromAfar(by, `Job ${id}`, `svc job rerun ${id}`);
  const obstacle = await obstacleTo(tx, old);
  if (obstacle !== null) throw new Failure('conflict', `Job ${id} is not run again: ${obstacle}.`);
  const owners = [...new Set([...fromJson(old.owners), by.owner])];
  const asker = { trigger: by.trigger, requestedBy: by.name, owners, because: by.because, summary: old.summary };
  const job = {
    ...newJob({ tx, asker }, old.runbook),
    kind: old.kind,
    source: old.source,
    workspace: old.workspace,
    concurrencyKey: old.concurrency_key,
    privileged: old.privileged === 1,
    spec: old.spec,
    timeoutMs: old.timeout_ms,
    node: old.node,
    rerunOf: old.id,
  };
  const again = await gateAgain(tx, deps, old);
  // The text of the job itself has no tag: what a person reads is the text of the request.
  if (again !== null) return askFirst({ tx, deps }, { ...job, summary: again.summary }, again.gate);
  const gate = await gateOfPlace({ tx, deps, asker }, job);
  return gate === null
    ? queueJob({ tx, deps }, job, QUEUE_RULES[old.kind].isUngated)
    : askFirst({ tx, deps }, { ...job, summary: null }, gate);
}

async function obstacleTo(tx: Tx, old: JobRow): Promise<string | null> {
  if (old.trigger === 'workflow') return 'it is a step of a workflow; use svc workflow run with --from';
  if (old.plan_artifact_id !== null && !KINDS[old.kind].makesPlan)
    return 'it applied a saved plan, which runs once; make a new plan';
  // What somebody wrote into the database is not made into an order of this service.
  if (!(await passesTag(tx, 'jobs', old))) return 'its order was not made by this service';
  const { job, eventId } = await askedBy(tx.db, old);
  if (eventId === null && OF_EVENTS.includes(job.trigger)) return 'the event that asked for it is no longer stored';
  return QUEUE_RULES[old.kind].redriveObstacle(tx, old);
}

/**
 * The request that the order needs again; null for none. Whether it does is a part of the order, which has its tag: who
 * can write only the database can remove an approval. The columns of an approval are taken only with its tag (T80).
 */
async function gateAgain(
  tx: Tx,
  deps: Pick<QueueDeps, 'approvalTtlMs'>,
  old: JobRow,
): Promise<{ readonly gate: Gate; readonly summary: string | null } | null> {
  const approval = await findApprovalOfJob(tx.db, old.id);
  if (approval === undefined && old.initial_state !== 'awaiting_approval') return null;
  const isRight = approval !== undefined && (await passesTag(tx, 'approvals', approval));
  if (isRight) return { gate: gateOf(approval), summary: approval.summary };
  return { gate: { origin: 'manual', ttlMs: deps.approvalTtlMs }, summary: null };
}

/** The same request as before, with as much time. */
function gateOf(approval: ApprovalRow): Gate {
  const { origin, alert, rule, matched_at: matchedAt, schedule } = approval;
  return {
    origin,
    ...(alert === null ? {} : { alert }),
    ...(rule === null ? {} : { rule }),
    ...(matchedAt === null ? {} : { matchedAt }),
    ...(schedule === null ? {} : { schedule }),
    // One of an earlier build may have no tag yet.
    ttlMs: Math.min(Math.max(approval.expires_at - approval.created_at, 1_000), APPROVAL_TTL_MAX_MS),
    oneTap: approval.one_tap === 1,
  };
}
