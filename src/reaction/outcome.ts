import type { EventStatus, NormalEvent, TraceStep } from '../domain/events/event.ts';
import { isTerminal, type JobState } from '../domain/jobs/job.ts';
import { checkYes } from '../jobs/checked-yes.ts';
import { Failure } from '../domain/failure.ts';
import { findEventOfJob, insertEvent } from '../store/events/events.ts';
import { passesTag } from '../store/engine/tags/tags.ts';
import type { Tx } from '../store/engine/tx.ts';
import { setOutcomeEvent } from '../store/jobs/outcomes.ts';
import type { Db, JobRow } from '../store/schema/schema.ts';
import { behindJob } from './event-causes.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { notifyJobEnd } from './job-notification.ts';
import { type EvaluatedEvent, type ReactionDeps, type Sender, retryOnRuleChange } from './types.ts';
import { faultRow } from './receive.ts';
import { decideAndRecord } from './decide-and-record.ts';

/** The ends of jobs as events, which rules evaluate like any alert. */

/** By the state that a job ended in; other states are `info`. */
const SEVERITIES: Partial<Record<JobState, string>> = { failed: 'error', interrupted: 'error', degraded: 'warning' };

/** A degraded job succeeded, with warnings. A cancelled one neither failed nor succeeded. */
const STATUSES: Partial<Record<JobState, EventStatus | null>> = {
  succeeded: 'resolved',
  degraded: 'resolved',
  cancelled: null,
};

/** Any end that is not listed is a failure. */
export function endStatus(state: JobState): EventStatus | null {
  const status = STATUSES[state];
  return status === undefined ? 'firing' : status;
}

/**
 * The event of a job's end. All jobs of one runbook share a fingerprint: a failure fires, the next success resolves.
 */
function outcomeEvent(job: Pick<JobRow, 'id' | 'kind' | 'state' | 'runbook' | 'workspace'>): NormalEvent {
  const { id, kind, state, runbook, workspace } = job;
  return {
    source: 'job-outcome',
    name: runbook,
    status: endStatus(state),
    severity: SEVERITIES[state] ?? 'info',
    fingerprint: `job:${runbook}`,
    labels: { job_id: id, kind, state, ...(workspace === null ? {} : { workspace }) },
    annotations: {},
  };
}

/** The event of a drift run; null without a change to report. */
function driftEvent({
  workspace,
  drift_status: status,
}: Pick<JobRow, 'workspace' | 'drift_status'>): NormalEvent | null {
  if (workspace === null || status === null) return null;
  return {
    source: 'drift',
    name: workspace,
    status,
    severity: null,
    fingerprint: `drift:${workspace}`,
    labels: { workspace },
    annotations: {},
  };
}

/** The owners of the job are in the asking chain of the jobs that its end makes; each job of a chain is one deeper. */
async function senderOf(db: Db, job: JobRow): Promise<Sender> {
  const made = await findEventOfJob(db, job);
  return {
    principal: job.requested_by,
    ...behindJob(job),
    via: 'daemon',
    trigger: 'rule',
    depth: (made?.depth ?? 0) + 1,
  };
}

/** The end of a job as evaluated events, for `recordOutcome`. */
export async function evaluateOutcome(deps: ReactionDeps, job: JobRow): Promise<readonly EvaluatedEvent[]> {
  const drift = driftEvent(job);
  return evaluateRules(
    deps,
    [outcomeEvent(job), ...(drift === null ? [] : [drift])],
    await senderOf(deps.store.db, job),
  );
}

/** Why an end fires nothing; null for one that counts. A job that got a no can only be cancelled. */
async function faultOf(tx: Tx, job: JobRow): Promise<string | null> {
  if (!isTerminal(job.state)) return 'its row has an end time, but not the state of an ended job';
  if (!(await passesTag(tx, 'jobs', job))) return 'its order was not made by this service';
  if (job.state === 'cancelled') return null;
  try {
    await checkYes(tx, job);
    return null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return 'it needed an approval and has none';
    throw error;
  }
}

/**
 * Records the end of a job: its event, the actions of rules, and the mark on the job, in one transaction. Idempotent
 * and crash-safe: each job end is recorded exactly once. Throws Failure `unavailable`, also if its rules keep changing:
 * the next pass records it.
 */
export async function recordOutcome(
  deps: ReactionDeps,
  job: JobRow,
  evaluated: readonly EvaluatedEvent[],
): Promise<void> {
  let first: readonly EvaluatedEvent[] | null = evaluated;
  await retryOnRuleChange(deps, async () => {
    const events = first ?? (await evaluateOutcome(deps, job));
    first = null;
    await deps.store.write((tx) => recordEnd(deps, tx, job, events));
  });
}

/**
 * Records the end of a job, which has the evaluated events, in the transaction `tx`: nothing if it is recorded already.
 * One whose order was not made here fires no rule and tells people nothing (T80). Throws RuleChanged: then the
 * transaction must not be committed.
 */
export async function recordEnd(
  deps: ReactionDeps,
  tx: Tx,
  job: JobRow,
  evaluated: readonly EvaluatedEvent[],
): Promise<void> {
  const fault = await faultOf(tx, job);
  if (fault !== null) {
    await recordFault(tx, job, fault);
    return;
  }
  const [first] = evaluated;
  if (first === undefined || !(await setOutcomeEvent(tx, job.id, first.id))) return;
  const mute = await notifyJobEnd(deps, tx, job);
  const held: TraceStep[] =
    mute === null
      ? []
      : [{ step: 'page', rule: null, result: 'stopped', why: `Notification suppressed by mute ${mute}.` }];
  for (const each of evaluated) await decideAndRecord(deps, tx, each, each === first ? held : []);
}

/** Records an end that cannot be handled as an error event, so that it does not block the others. */
export async function giveUpOutcome(deps: Pick<ReactionDeps, 'store' | 'wake'>, job: JobRow): Promise<void> {
  await deps.store.write(async (tx) => {
    const isFirst = await recordFault(tx, job, 'a fault of the service');
    if (isFirst && (await passesTag(tx, 'jobs', job))) await notifyJobEnd(deps, tx, job);
  });
}

/** An error event instead of that of the end; `why` is a part of a sentence. */
async function recordFault(tx: Tx, job: JobRow, why: string): Promise<boolean> {
  const { labels, name } = outcomeEvent(job);
  const reason = `The end of ${job.id} could not be handled: ${why}.`;
  const row = { ...faultRow(tx.now, { source: 'job-outcome', labels }, reason), name };
  const isFirst = await setOutcomeEvent(tx, job.id, row.id);
  if (isFirst) insertEvent(tx, row);
  return isFirst;
}
