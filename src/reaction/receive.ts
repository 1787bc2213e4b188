import type { EventSource, NormalEvent } from '../domain/events/event.ts';
import { Failure } from '../domain/failure.ts';
import { newId } from '../lib/id.ts';
import { YieldTimer } from '../lib/flow/cooperative.ts';
import { toJson } from '../lib/json.ts';
import { insertEvent } from '../store/events/events.ts';
import type { EventRow } from '../store/schema/schema.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { WEBHOOK_ANNOTATION } from './normalise/make-event.ts';
import { type Outcome, type ReactionDeps, type Sender, retryOnRuleChange } from './types.ts';
import { decideAndRecord } from './decide-and-record.ts';

/**
 * Evaluates the rules on all events of one message and records the outcomes in one write. Returns one outcome for each
 * event, in their order. Throws Failure `unavailable` without writing if the store cannot accept it.
 */
export async function receive(deps: ReactionDeps, events: readonly NormalEvent[], sender: Sender): Promise<Outcome[]> {
  try {
    return await retryOnRuleChange(deps, () => receiveOnce(deps, events, sender));
  } catch (error) {
    if (error instanceof Failure) throw error;
    deps.onError(`${events.length} events of ${sender.principal}`, error);
  }
  // One of them failed unexpectedly: it must not keep the others out.
  const outcomes: Outcome[] = [];
  for (const event of events) outcomes.push(await receiveApart(deps, event, sender));
  return outcomes;
}

async function receiveOnce(deps: ReactionDeps, events: readonly NormalEvent[], sender: Sender): Promise<Outcome[]> {
  const evaluated = await evaluateRules(deps, events, sender);
  return deps.store.write(async (tx) => {
    const outcomes: Outcome[] = [];
    const breather = new YieldTimer(deps.clock);
    for (const each of evaluated) {
      if (breather.isDue) await breather.breathe();
      outcomes.push(await decideAndRecord(deps, tx, each));
    }
    return outcomes;
  });
}

async function receiveApart(deps: ReactionDeps, event: NormalEvent, sender: Sender): Promise<Outcome> {
  try {
    const [outcome] = await receiveOnce(deps, [event], sender);
    if (outcome !== undefined) return outcome;
  } catch (error) {
    if (error instanceof Failure) throw error;
    deps.onError(`event of ${event.source}`, error);
  }
  const [row] = await receiveUnreadable(deps, { source: event.source, annotations: cameBy(event, sender) }, [
    'The event could not be handled: an internal error of the service.',
  ]);
  if (row === undefined) throw new Error('one reason makes one row');
  return { event: row, jobId: null, approvalId: null };
}

/** Nothing of the event itself is kept, because it caused the fault; the name of the webhook is from the service. */
function cameBy({ annotations }: NormalEvent, { via }: Sender): Readonly<Record<string, string>> {
  const webhook = annotations[WEBHOOK_ANNOTATION];
  return via !== 'webhook' || webhook === undefined ? {} : { [WEBHOOK_ANNOTATION]: webhook };
}

/**
 * Events that could not be read or handled: a row with the outcome `error` for each sentence of `reasons`, in one
 * write.
 */
export function receiveUnreadable(
  deps: Pick<ReactionDeps, 'store' | 'clock'>,
  known: KnownOfEvent,
  reasons: readonly string[],
): Promise<EventRow[]> {
  return deps.store.write(async (tx) => {
    const rows: EventRow[] = [];
    const breather = new YieldTimer(deps.clock);
    for (const reason of reasons) {
      if (breather.isDue) await breather.breathe();
      const row = faultRow(tx.now, known, reason);
      insertEvent(tx, row);
      rows.push(row);
    }
    return rows;
  });
}

/** What is known of an event that was not read or handled. */
interface KnownOfEvent {
  readonly source: EventSource;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function faultRow(
  now: number,
  { source, labels = {}, annotations = {} }: KnownOfEvent,
  reason: string,
): EventRow {
  return {
    id: newId('evt', now),
    source,
    name: null,
    status: null,
    netgroup: null,
    severity: null,
    fingerprint: null,
    labels: toJson(labels),
    outcome: 'error',
    reason,
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: now,
    annotations: toJson(annotations),
    check_observations: null,
    trace: toJson([]),
    depth: 0,
  };
}
