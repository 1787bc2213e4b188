import type { Subject } from '../domain/events/causes.ts';
import type { EventFacts, NormalEvent } from '../domain/events/event.ts';
import { Failure } from '../domain/failure.ts';
import type { TriedRule } from '../domain/rules/reaction-facts.ts';
import type { RuleAction } from '../domain/rules/actions.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { TaskSlicer } from '../lib/flow/cooperative.ts';
import type { Work } from '../store/engine/tx.ts';
import type { EventRow } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import type { CompiledRule, CompiledRules } from './rules/compiled-rules.ts';

/** The dependencies for receiving events. */
export interface ReactionDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** A job may have become claimable. */
  readonly wake: () => void;
  /** See QueueDeps. */
  readonly claimNow?: Work<void>;
  readonly approvalTtlMs: number;
  readonly rules: CompiledRules;
  /** Takes a fault of the service that keeps one rule or event from being handled, for the log. */
  readonly onError: (name: string, error: unknown) => void;
  /** Slices long work, together with the other long work of the process. */
  readonly turns: TaskSlicer;
}

/** Who is behind an event. */
export interface Sender {
  readonly principal: string;
  /** They are added to the asking chain of the jobs that the event makes. */
  readonly owners: readonly string[];
  /** What its events depend on: who changed that is in the chain too. */
  readonly subjects: readonly Subject[];
  /**
   * What an earlier event depends on that its events follow from: who is noted there is in the chain too. They are not
   * events of these subjects, so that no one leaves the chain of the next one by them.
   */
  readonly followsFrom?: readonly Subject[];
  readonly via: string;
  readonly trigger: 'rule' | 'host';
  /** The number of jobs before it in a chain job → outcome → rule → job. */
  readonly depth: number;
}

/** A rule that matched an event, or could not be evaluated on it. */
export interface Attempt {
  readonly rule: CompiledRule;
  readonly tried: TriedRule;
  /** Its filled-in action; null if it did not match or cannot be filled in. */
  readonly action: RuleAction | null;
}

/** An event with its evaluated rules. Callers pass it to `decideAndRecord` and read only its `id`. */
export interface EvaluatedEvent {
  readonly id: string;
  readonly event: NormalEvent;
  readonly facts: EventFacts;
  readonly sender: Sender;
  /** In the order of their names, up to the one that decides. */
  readonly attempts: readonly Attempt[];
  /** How many rules were tried and did not match. */
  readonly unmatched: number;
  /** How many rules come after the one that decides. */
  readonly notTried: number;
  /** JSON: of the transition of a check, the observations that agreed. */
  readonly checkObservations?: NonNullable<EventRow['check_observations']>;
}

export interface Outcome {
  readonly event: EventRow;
  readonly jobId: string | null;
  readonly approvalId: string | null;
}

/**
 * A rule changed between the evaluation of an event and its action. Nothing was written; a new evaluation uses the
 * current rule.
 */
export class RuleChanged extends Failure {
  constructor(rule: string) {
    super(
      'unavailable',
      `The rule ${rule} was changed during the evaluation of an event. Nothing was done; send the event again.`,
    );
  }
}

/** Attempts and pause when a rule changes during evaluation: a change is known here after at most one second. */
const ATTEMPTS = 6;
const PAUSE_MS = 250;

/**
 * Repeats an attempt that met a RuleChanged, with the current rules; throws the last one. An attempt writes all or
 * nothing.
 */
export async function retryOnRuleChange<T>(
  { rules, clock }: Pick<ReactionDeps, 'rules' | 'clock'>,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RuleChanged) || count >= ATTEMPTS) throw error;
      rules.forget();
      await pause(clock, PAUSE_MS);
    }
  }
}
