import type { TraceStep } from '../domain/events/event.ts';
import { isTerminal } from '../domain/jobs/job.ts';
import { decideReaction, decidingRule, type ReactionDecision } from '../domain/rules/reaction.ts';
import type { Standing } from '../domain/rules/reaction-facts.ts';
import { toJson } from '../lib/json.ts';
import { isCordoned } from '../store/maintenance/cordon.ts';
import { causersOf, notedCauses } from '../store/events/causes.ts';
import { insertEvent, listFires } from '../store/events/events.ts';
import type { Tx } from '../store/engine/tx.ts';
import type { Db, EventRow } from '../store/schema/schema.ts';
import { carryOut } from './fire.ts';
import type { EvaluatedEvent, Outcome, ReactionDeps } from './types.ts';
import { encodeTrace } from './trace.ts';

/**
 * Silence, cooldown, duplicate, cordon, loop, gate, fire, and the row of the event with `more` at the end of its steps,
 * in one transaction. Throws RuleChanged.
 */
export async function decideAndRecord(
  deps: ReactionDeps,
  tx: Tx,
  evaluated: EvaluatedEvent,
  more: readonly TraceStep[] = [],
): Promise<Outcome> {
  const matched = evaluated.attempts.filter(({ tried }) => tried.result === 'matched');
  // Two daemons may receive the same event at the same time: the second one sees the first one's action.
  for (const { rule } of matched) await tx.dialect.lockKey(tx.db, `rule:${rule.name}`);
  const now = matched.length === 0 ? tx.now : await tx.dialect.clock(tx.db, tx.now);
  const judged = await judge(tx.db, evaluated, now);
  // An alert that no rule matches starts nothing, and there are thousands a second: its webhook is not looked at.
  const isIdle = matched.length === 0 && evaluated.sender.via === 'webhook';
  const { subjects, followsFrom = [] } = evaluated.sender;
  const causers = isIdle ? [] : [...(await causersOf(tx, subjects)), ...(await notedCauses(tx, followsFrom))];
  const { decision, jobId, approvalId } = await carryOut({ deps, tx, evaluated, now }, { decided: judged, causers });
  const event = rowOf(evaluated, { ...decision, trace: [...decision.trace, ...more] }, jobId, approvalId);
  insertEvent(tx, event);
  return { event, jobId, approvalId };
}

/** Decides the outcome of the event from the store, and writes nothing. `now` in milliseconds by the store's clock. */
export async function judge(
  db: Db,
  { event, attempts, unmatched, sender }: EvaluatedEvent,
  now: number,
): Promise<ReactionDecision> {
  const tried = attempts.map((attempt) => attempt.tried);
  const standings = new Map<string, Standing>();
  for (const { name, result } of tried)
    if (result === 'matched') standings.set(name, await standingOf(db, name, event.fingerprint, event.status ?? ''));
  const cordoned = decidingRule(tried) !== undefined && (await isCordoned(db));
  return decideReaction({ now, tried, unmatched, standings, cordoned, depth: sender.depth });
}

async function standingOf(db: Db, rule: string, fingerprint: string, status: string): Promise<Standing> {
  const fires = await listFires(db, { rule, fingerprint });
  const lastFiredAt = fires.length === 0 ? null : Math.max(...fires.map((fire) => fire.fired_at));
  const same = fires.find((fire) => fire.status === status);
  if (same === undefined || same.job_id === null || same.job_state === null || isTerminal(same.job_state))
    return { lastFiredAt, openJob: null };
  return { lastFiredAt, openJob: { id: same.job_id, state: same.job_state } };
}

function rowOf(
  { id, event, facts, sender, unmatched, notTried, checkObservations }: EvaluatedEvent,
  decision: ReactionDecision,
  jobId: string | null,
  approvalId: string | null,
): EventRow {
  return {
    id,
    source: event.source,
    name: event.name || null,
    status: event.status,
    // For an alert the group is only a label: it classifies the sender, not the subject of the alert.
    netgroup: event.source === 'check' ? facts.netgroup : null,
    severity: event.severity,
    fingerprint: event.fingerprint || null,
    labels: toJson(event.labels),
    outcome: decision.outcome,
    reason: decision.reason,
    rule: decision.rule,
    job_id: jobId,
    approval_id: approvalId,
    received_at: facts.receivedAt,
    annotations: toJson(event.annotations),
    check_observations: checkObservations ?? null,
    trace: encodeTrace({ steps: decision.trace, unmatched, notTried }),
    depth: sender.depth,
  };
}
