import type { EventFacts, NormalEvent } from '../domain/events/event.ts';
import { Failure } from '../domain/failure.ts';
import type { TriedRule } from '../domain/rules/reaction-facts.ts';
import type { RuleAction } from '../domain/rules/actions.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { TaskSlicer } from '../lib/flow/cooperative.ts';
import type { EventRow } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import type { CompiledRule, CompiledRules } from './compiled-rules.ts';

/** What the one door for events works with. */
export interface ReactionDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** A job may have become claimable. */
  readonly wake: () => void;
  readonly approvalTtlMs: number;
  readonly rules: CompiledRules;
  /** What takes long is done in pieces, together with all else that does. */
  readonly turns: TaskSlicer;
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

/** A rule that was tried on an event. */
export interface Attempt {
  readonly rule: CompiledRule;
  readonly tried: TriedRule;
  /** What it does, filled in; null where it did not match or cannot be filled in. */
  readonly action: RuleAction | null;
}

/** An event whose rules were tried. Who has one hands it to `decideAndRecord` and looks at its `id` only. */
export interface EvaluatedEvent {
  readonly id: string;
  readonly event: NormalEvent;
  readonly facts: EventFacts;
  readonly sender: Sender;
  /** In the order of their names, up to the one that decides. */
  readonly attempts: readonly Attempt[];
  /** Names of the rules behind that. */
  readonly notTried: readonly string[];
}

export interface Outcome {
  readonly event: EventRow;
  readonly jobId: string | null;
  readonly approvalId: string | null;
}

/**
 * A rule that was about to act is not any more what it was when the event was tried on it. Nothing was written; who
 * tries the event anew meets the rule as it is now.
 */
export class RuleChanged extends Failure {
  constructor(rule: string) {
    super(
      'unavailable',
      `The rule ${rule} was changed while an event was tried on it. Nothing was done: send it again.`,
    );
  }
}

/**
 * An event whose rule is changed meanwhile is tried so often, with this pause: what was changed is known here after a
 * second at most.
 */
const ATTEMPTS = 6;
const PAUSE_MS = 250;

/**
 * Makes the attempt anew where it met a RuleChanged, with the rules as they are then; the last one is thrown. An
 * attempt writes all or nothing.
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
