import type { ProbeDetail } from '../domain/checks/check.ts';
import { AGREEING, type Transition } from '../domain/checks/sweep/observe.ts';
import type { CheckObservation, NormalEvent } from '../domain/events/event.ts';
import { Failure } from '../domain/failure.ts';
import { rfc3339 } from '../lib/clock.ts';
import { YieldTimer } from '../lib/flow/cooperative.ts';
import { type Json, toJson } from '../lib/json.ts';
import { insertEvent } from '../store/events/events.ts';
import type { Tx } from '../store/engine/tx.ts';
import { decideAndRecord } from './decide-and-record.ts';
import { behindCheck } from './event-causes.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { faultRow } from './receive.ts';
import { type EvaluatedEvent, type ReactionDeps, retryOnRuleChange, type Sender } from './types.ts';

/** A transition of a target of a check, which rules evaluate like any alert. */
export interface CheckTransition {
  readonly check: string;
  readonly target: string;
  readonly transition: Transition;
  readonly durationMs: number;
  readonly detail: ProbeDetail;
  /** Null for a target that is not an address. */
  readonly netgroup: string | null;
  /** Writes the new state of the target; false where it has another state, or is gone: then there is no event. */
  readonly keep: (tx: Tx) => Promise<boolean>;
}

/** A certificate that ends soon still works. */
const WARNINGS: readonly ProbeDetail[] = ['certificate_expires_soon'];

function eventOfTransition(change: CheckTransition): NormalEvent {
  const { check, target, transition, durationMs, detail, netgroup } = change;
  const isFiring = transition.status === 'firing';
  return {
    source: 'check',
    name: check,
    status: transition.status,
    severity: isFiring ? (WARNINGS.includes(detail) ? 'warning' : 'critical') : 'info',
    // The same for both states, so that the recovery of a target resolves its failure.
    fingerprint: `check:${check}/${target}`,
    labels: { check, target, duration_ms: String(Math.round(durationMs)), ...(netgroup === null ? {} : { netgroup }) },
    annotations: { detail },
  };
}

function senderOf({ check, netgroup }: CheckTransition): Sender {
  return { principal: `check:${check}`, ...behindCheck(check, netgroup), via: 'daemon', trigger: 'rule', depth: 0 };
}

function observationsOf({ transition }: CheckTransition): Json<CheckObservation[]> {
  const status = transition.status === 'firing' ? 'down' : 'up';
  return toJson(
    transition.observedAt.map((at, index) => ({
      observed_at: rfc3339(at),
      status,
      consecutive: `${index + 1} of ${AGREEING}`,
    })),
  );
}

/**
 * Writes the new states of some targets with their events and what rules do with them, in one transaction: after a
 * crash a target has both or neither. Throws Failure `unavailable` where the store does not accept it, also if a rule
 * keeps changing: nothing was written then. One that cannot be written at all is thrown after the others are.
 */
export async function recordTransitions(deps: ReactionDeps, changes: readonly CheckTransition[]): Promise<void> {
  try {
    return await retryOnRuleChange(deps, () => recordOnce(deps, changes));
  } catch (error) {
    if (isUnavailable(error)) throw error;
    deps.onError(`${changes.length} transitions of checks`, error);
  }
  // One of them failed unexpectedly: it must not keep the others out.
  const faults: unknown[] = [];
  for (const change of changes) {
    try {
      await recordApart(deps, change);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      faults.push(new Error(`no event of ${change.check}/${change.target}`, { cause: error }));
    }
  }
  const [first] = faults;
  if (first !== undefined) throw faults.length === 1 ? first : new AggregateError(faults, 'events of checks are lost');
}

/** Then it can be written later. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.code === 'unavailable';
}

async function recordOnce(deps: ReactionDeps, changes: readonly CheckTransition[]): Promise<void> {
  const evaluated: [CheckTransition, EvaluatedEvent][] = [];
  for (const change of changes) {
    const [event] = await evaluateRules(deps, [eventOfTransition(change)], senderOf(change));
    if (event !== undefined) evaluated.push([change, { ...event, checkObservations: observationsOf(change) }]);
  }
  await deps.store.write(async (tx) => {
    const breather = new YieldTimer(deps.clock);
    for (const [change, event] of evaluated) {
      if (breather.isDue) await breather.breathe();
      if (await change.keep(tx)) await decideAndRecord(deps, tx, event);
    }
  });
}

async function recordApart(deps: ReactionDeps, change: CheckTransition): Promise<void> {
  try {
    return await retryOnRuleChange(deps, () => recordOnce(deps, [change]));
  } catch (error) {
    if (isUnavailable(error)) throw error;
    deps.onError(`transition of ${change.check}/${change.target}`, error);
  }
  const { labels, name, status, fingerprint } = eventOfTransition(change);
  const reason = 'The transition could not be handled: an internal error of the service.';
  await deps.store.write(async (tx) => {
    if (!(await change.keep(tx))) return;
    const row = faultRow(tx.now, { source: 'check', labels }, reason);
    insertEvent(tx, { ...row, name, status, fingerprint, check_observations: observationsOf(change) });
  });
}
