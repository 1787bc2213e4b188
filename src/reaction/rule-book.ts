import type { EventFacts } from '../domain/event.ts';
import type { Action, Rule } from '../domain/rule.ts';
import type { Store } from '../store/store.ts';

/** A rule that is ready to be tried. */
export interface BookRule extends Rule {
  readonly version: number;
  /** Whether it matches. An error never counts as a match. */
  evaluate(facts: EventFacts): { readonly value: boolean } | { readonly error: string };
  /** The action with its `${…}` filled in, each checked as the type of its field. */
  fill(facts: EventFacts): { readonly action: Action } | { readonly error: string };
}

/** A silence that is open. */
export interface BookSilence {
  readonly id: string;
  readonly reason: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  stops(rule: string, facts: EventFacts): boolean;
}

/** The rules and silences of a store, compiled once for each version of theirs. */
export class RuleBook {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The enabled rules that may match an event of this source, in the order of their names. */
  rulesFor(_source: string): Promise<readonly BookRule[]> {
    void this.#store;
    return Promise.resolve([]);
  }

  silences(): Promise<readonly BookSilence[]> {
    return Promise.resolve([]);
  }
}
