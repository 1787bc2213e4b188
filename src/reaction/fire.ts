import { Failure } from '../domain/failure.ts';
import { type NormalEvent, titleOfEvent, type TraceStep } from '../domain/events/event.ts';
import { isNotify } from '../domain/actions/notify-action.ts';
import { doneReason, refused, type ReactionDecision, withoutNotify } from '../domain/rules/reaction.ts';
import { rfc3339 } from '../lib/clock.ts';
import { recordFire } from '../store/events/events.ts';
import type { Tx } from '../store/engine/tx.ts';
import { insertNotification, requestNotification } from '../store/notify/notifications.ts';
import { noteFired } from '../store/rules/rules.ts';
import { holdingMute, notificationState } from './mutes/active-mute.ts';
import { eventSubjects } from './mutes/subjects.ts';
import { type Attempt, type EvaluatedEvent, type ReactionDeps, RuleChanged } from './types.ts';
import { queueAction } from '../jobs/actions.ts';
import { type Gate, type Queued, queuedDetail } from '../jobs/queue.ts';

/** What a decision led to. */
interface Done {
  /** With the reason, and with what was refused. */
  readonly decision: ReactionDecision;
  readonly jobId: string | null;
  readonly approvalId: string | null;
}

/** What was decided of an event, and who caused that it came. */
interface Judged {
  readonly decided: ReactionDecision;
  /** Owners: they are in the asking chain of its job. */
  readonly causers: readonly string[];
}

/** The write that records an event, and at which time. */
interface Firing {
  readonly deps: ReactionDeps;
  readonly tx: Tx;
  readonly evaluated: EvaluatedEvent;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Carries the decision out: makes the job and the notifications of the rules. Throws RuleChanged. */
export async function carryOut(firing: Firing, { decided, causers }: Judged): Promise<Done> {
  await reportUnfit(firing, decided);
  const checked = await withoutForged(firing, decided);
  const notified = checked.notifies.length === 0 ? checked : await notifyPeople(firing, checked);
  return makeJob(firing, { decided: notified, causers });
}

/** Reports a rule that matched an event whose values its action does not accept: one notification per rule and day. */
async function reportUnfit({ deps, tx, evaluated, now }: Firing, decision: ReactionDecision): Promise<void> {
  const { id: eventId, event, attempts } = evaluated;
  const isUnfit = ({ rule, tried }: Attempt): boolean => rule.name === decision.rule && tried.unfit !== null;
  const unfit = attempts.find(isUnfit);
  if (decision.outcome !== 'error' || unfit === undefined || (await faultOf(tx, unfit.rule)) !== null) return;
  const rule = decision.rule ?? '';
  if ((await muteOf(tx, event)) !== null) return;
  const message = `Rule ${rule} matched but did nothing: it does not accept a value of the event`;
  const facts = { kind: 'rule', rule, eventId, event: titleOfEvent(event), message } as const;
  const topic = `unfit:${rule}:${rfc3339(now).slice(0, 'yyyy-mm-dd'.length)}`;
  if ((await requestNotification(tx, { topic, facts, alone: true })) !== null) tx.afterCommit(() => deps.wake());
}

function muteOf(tx: Tx, event: NormalEvent): Promise<string | null> {
  return holdingMute(tx, () => Promise.resolve(eventSubjects(event)));
}

/** A rule that somebody wrote into the database tells people nothing; the event says why. */
async function withoutForged({ tx, evaluated }: Firing, decision: ReactionDecision): Promise<ReactionDecision> {
  let kept = decision;
  for (const { rule } of evaluated.attempts) {
    const fault = decision.notifies.includes(rule.name) ? await faultOf(tx, rule) : null;
    if (fault !== null) kept = withoutNotify(kept, rule.name, fault);
  }
  return kept;
}

/** Why a rule must not act, as a sentence; null where it may (T80). */
async function faultOf(tx: Tx, rule: Attempt['rule']): Promise<string | null> {
  try {
    await rule.check(tx);
    return null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return error.message;
    throw error;
  }
}

/** Makes the notifications of rules that notify. A mute suppresses them, and the event records that. */
async function notifyPeople(firing: Firing, decision: ReactionDecision): Promise<ReactionDecision> {
  const { deps, tx } = firing;
  const { id: eventId, event, attempts } = firing.evaluated;
  const mute = await muteOf(tx, event);
  for (const { rule, action } of attempts) {
    if (!decision.notifies.includes(rule.name) || action === null || !isNotify(action)) continue;
    const facts = {
      kind: 'rule',
      rule: rule.name,
      eventId,
      event: titleOfEvent(event),
      message: action.message,
      severity: event.status === 'resolved' ? null : event.severity,
    } as const;
    await insertNotification(tx, { topic: `rule:${eventId}:${rule.name}`, facts }, notificationState(mute));
    await noteActed(firing, rule, null);
  }
  if (mute === null) {
    tx.afterCommit(() => deps.wake());
    return decision;
  }
  const isHeld = ({ step, rule }: TraceStep): boolean =>
    step === 'fire' && rule !== null && decision.notifies.includes(rule);
  return {
    ...decision,
    trace: decision.trace.map((each) =>
      isHeld(each) ? { ...each, why: `Notification suppressed by mute ${mute}.` } : each,
    ),
  };
}

async function makeJob(firing: Firing, judged: Judged): Promise<Done> {
  const { decided: decision } = judged;
  const deciding = firing.evaluated.attempts.find(({ rule }) => rule.name === decision.rule);
  if ((decision.outcome !== 'fired' && decision.outcome !== 'gated') || deciding === undefined)
    return { decision, jobId: null, approvalId: null };
  return fire(firing, { ...judged, deciding });
}

async function fire(
  firing: Firing,
  { decided: decision, causers, deciding: { rule, action } }: Judged & { readonly deciding: Attempt },
): Promise<Done> {
  const { deps, tx } = firing;
  const { id, sender, facts } = firing.evaluated;
  if (action === null || isNotify(action)) throw new Error('only an action that makes a job can fire');
  const owners = [...new Set([...sender.owners, ...rule.owners, ...causers])];
  const provenance = { origin: 'alert', alert: id, rule: rule.name, matchedAt: facts.receivedAt } as const;
  const gate: Gate | null =
    decision.outcome === 'gated'
      ? { ...provenance, ttlMs: rule.approvalTtlMs ?? deps.approvalTtlMs, oneTap: rule.oneTap === true }
      : null;
  const asker = {
    trigger: sender.trigger,
    requestedBy: sender.principal,
    owners,
    runbook: `rule:${rule.name}`,
    summary: rule.summary,
    provenance,
    event: facts,
  };
  let queued: Queued;
  try {
    await rule.check(tx);
    queued = await queueAction({ tx, deps, asker, gate }, action);
  } catch (error) {
    // A refusal comes before anything is written, so the event can still be recorded. Any other error rolls the write
    // back.
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
    return { decision: refused(decision, error.message), jobId: null, approvalId: null };
  }
  const { jobId } = queued;
  const approvalId = queued.state === 'queued' ? null : queued.approval.id;
  const missing = queued.state === 'queued' ? [] : queued.missing;
  await noteActed(firing, rule, jobId);
  tx.record({
    principal: sender.principal,
    owner: owners[0] ?? 'gatehouse',
    via: sender.via,
    operation: 'rule.fire',
    target: jobId,
    detail: { event_id: id, rule: rule.name, ...queuedDetail(queued) },
  });
  return {
    decision: { ...decision, reason: doneReason(rule.name, { id: jobId, approvalId, missing }) },
    jobId,
    approvalId,
  };
}

/**
 * For cooldown and duplicates. A rule that was changed during evaluation must not act in its old form: its change was
 * already confirmed.
 */
async function noteActed(
  { tx, evaluated: { event }, now: firedAt }: Firing,
  rule: Attempt['rule'],
  jobId: string | null,
): Promise<void> {
  if (!(await noteFired(tx, rule))) throw new RuleChanged(rule.name);
  recordFire(tx, { rule: rule.name, fingerprint: event.fingerprint, status: event.status ?? '', firedAt, jobId });
}
