import type { NormalEvent } from '../domain/events/event.ts';
import { findEvent, insertEvent } from '../store/events/events.ts';
import { passesTag } from '../store/engine/tags/tags.ts';
import type { Tx } from '../store/engine/tx.ts';
import { insertNotification } from '../store/notify/notifications.ts';
import type { Db, EventRow, WorkflowRunRow } from '../store/schema/schema.ts';
import { findRefusedStep, setRunOutcome } from '../store/workflows/run-outcomes.ts';
import { holdingMute, notificationState } from './mutes/active-mute.ts';
import { decideAndRecord } from './decide-and-record.ts';
import { behindRun } from './event-causes.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { endStatus } from './outcome.ts';
import { faultRow } from './receive.ts';
import { runSubjects } from './mutes/subjects.ts';
import { type EvaluatedEvent, type ReactionDeps, retryOnRuleChange, type Sender } from './types.ts';

/** The ends of runs of workflows as events, which rules evaluate like any alert, beside those of their jobs. */

const SEVERITIES: Readonly<Record<WorkflowRunRow['state'], string>> = {
  running: 'info',
  succeeded: 'info',
  cancelled: 'info',
  degraded: 'warning',
  failed: 'error',
  interrupted: 'error',
};

/** All runs of a workflow share a fingerprint: a failure fires, the next success resolves. */
function outcomeEvent({ id, workflow, state }: WorkflowRunRow): NormalEvent {
  return {
    source: 'job-outcome',
    name: `workflow:${workflow}`,
    status: endStatus(state),
    severity: SEVERITIES[state],
    fingerprint: `job:workflow:${workflow}`,
    labels: { run_id: id, kind: 'workflow', workflow, state },
    annotations: {},
  };
}

/** The requesters of the run are in the asking chain of what its end starts, one deeper than what started the run. */
async function senderOf(db: Db, run: WorkflowRunRow, event: EventRow | undefined): Promise<Sender> {
  return {
    principal: run.requested_by,
    ...(await behindRun(db, run)),
    via: 'daemon',
    trigger: 'rule',
    depth: (event?.depth ?? 0) + 1,
  };
}

async function eventOf(db: Db, { event_id: id }: WorkflowRunRow): Promise<EventRow | undefined> {
  return id === null ? undefined : findEvent(db, id);
}

/**
 * Records the end of a run: its event, the actions of rules, and a notification where no job sent one, in one
 * transaction. Nothing if it is recorded already. Throws Failure `unavailable`: the next pass records it.
 */
export async function recordRunOutcome(deps: ReactionDeps, run: WorkflowRunRow): Promise<void> {
  const { db } = deps.store;
  const started = await eventOf(db, run);
  const sender = await senderOf(db, run, started);
  await retryOnRuleChange(deps, async () => {
    const [evaluated] = await evaluateRules(deps, [outcomeEvent(run)], sender);
    if (evaluated === undefined) throw new Error('an event was evaluated and did not come back');
    await deps.store.write((tx) => record(deps, tx, { run, started }, evaluated));
  });
}

interface EndedRun {
  readonly run: WorkflowRunRow;
  /** The event that started it. */
  readonly started: EventRow | undefined;
}

async function record(
  deps: ReactionDeps,
  tx: Tx,
  { run, started }: EndedRun,
  evaluated: EvaluatedEvent,
): Promise<void> {
  // Rules must not act on the text of a row that somebody wrote (T80).
  if (!(await passesTag(tx, 'workflow_runs', run))) {
    await recordFault(tx, run, 'it was not started by this service');
    return;
  }
  if (!(await setRunOutcome(tx, run.id, evaluated.id))) return;
  const mute = await notifyRefusal(deps, tx, { run, started });
  await decideAndRecord(
    deps,
    tx,
    evaluated,
    mute === null
      ? []
      : [{ step: 'page', rule: null, result: 'stopped', why: `Notification suppressed by mute ${mute}.` }],
  );
}

/**
 * Requests a notification for a step that could not be queued: it has no job whose end would cause one. The result is
 * the id of the mute that suppresses it.
 */
async function notifyRefusal(
  { wake }: Pick<ReactionDeps, 'wake'>,
  tx: Tx,
  { run, started }: EndedRun,
): Promise<string | null> {
  const step = await findRefusedStep(tx, run.id);
  if (step === undefined) return null;
  const mute = await holdingMute(tx, () => Promise.resolve(runSubjects(run, started)));
  const facts = { kind: 'workflow', workflow: run.workflow, runId: run.id, step } as const;
  const made = await insertNotification(tx, { topic: `workflow:${run.id}`, facts }, notificationState(mute));
  if (made !== null && mute === null) tx.afterCommit(wake);
  return mute;
}

/** Records an end that cannot be handled as an error event, so that it does not block the others. */
export async function giveUpRunOutcome(deps: Pick<ReactionDeps, 'store' | 'wake'>, run: WorkflowRunRow): Promise<void> {
  await deps.store.write(async (tx) => {
    const isFirst = await recordFault(tx, run, 'a fault of the service');
    if (isFirst && (await passesTag(tx, 'workflow_runs', run)))
      await notifyRefusal(deps, tx, { run, started: undefined });
  });
}

/** An error event instead of that of the end; `why` is a part of a sentence. */
async function recordFault(tx: Tx, run: WorkflowRunRow, why: string): Promise<boolean> {
  const { labels, name } = outcomeEvent(run);
  const reason = `The end of ${run.id} could not be handled: ${why}.`;
  const row = { ...faultRow(tx.now, { source: 'job-outcome', labels }, reason), name };
  const isFirst = await setRunOutcome(tx, run.id, row.id);
  if (isFirst) insertEvent(tx, row);
  return isFirst;
}
