import type { NormalEvent } from '../domain/event.ts';
import type { Clock } from '../lib/clock.ts';
import type { Tx } from '../store/gate.ts';
import type { EventRow } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { RuleBook } from './rule-book.ts';

/** What the one door for events works with. */
export interface ReactionDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** A job may have become claimable. */
  readonly wake: () => void;
  readonly approvalTtlMs: number;
  readonly rules: RuleBook;
}

/** Who is behind an event. */
export interface Sender {
  readonly principal: string;
  /** They go into the asking chain of what the event fires. */
  readonly owners: readonly string[];
  readonly via: string;
  readonly trigger: 'rule' | 'host';
  /** How many jobs stand before it in a chain job → outcome → rule → job. */
  readonly depth: number;
}

/** An event whose rules were tried. */
export interface Considered {
  readonly event: NormalEvent;
}

export interface Outcome {
  readonly event: EventRow;
  readonly jobId: string | null;
  readonly approvalId: string | null;
}

/** Tries the rules: everything that takes time, before a transaction is open. */
export function consider(_deps: ReactionDeps, _events: readonly NormalEvent[], _sender: Sender): Promise<Considered[]> {
  return Promise.reject(new Error('the reaction is not built yet'));
}

/** Silence, cooldown, duplicate, cordon, loop, gate, fire, and the row of the event, in one transaction. */
export function settle(_deps: ReactionDeps, _tx: Tx, _considered: Considered): Promise<Outcome> {
  return Promise.reject(new Error('the reaction is not built yet'));
}

/** Both, in one write for all events of one message. */
export async function receive(deps: ReactionDeps, events: readonly NormalEvent[], sender: Sender): Promise<Outcome[]> {
  const considered = await consider(deps, events, sender);
  return deps.store.write(async (tx) => {
    const outcomes: Outcome[] = [];
    for (const each of considered) outcomes.push(await settle(deps, tx, each));
    return outcomes;
  });
}
