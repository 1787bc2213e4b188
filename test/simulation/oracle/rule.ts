import type { Scope } from '../../../src/domain/access/scope.ts';
import type { Call, Effect } from './calls.ts';
import type { Fact, Snapshot } from './facts.ts';
import type { Model } from './model.ts';

/** What a move may look at, and change. */
export interface Moment {
  readonly model: Model;
  /** Of the commit that the move is in. */
  readonly rows: Snapshot;
  /** Other moves of this commit that were not looked at yet: the write that makes a run comes after its steps. */
  readonly first: (operation: string, isIt: (fact: Fact) => boolean) => boolean;
  /** Whether the daemon with this id has died; null where that is not known. */
  readonly isDead: (daemonId: string) => boolean | null;
  /** Says why the contract does not allow the move; null, for a caller that ends with it. */
  readonly refuse: (why: string) => null;
}

/** What the contract says of an operation. */
export interface OperationRule {
  /** Who may call it: one of them. */
  readonly scopes: readonly Scope[];
  /** The same in the console, where it is otherwise there. */
  readonly sessionScopes?: readonly Scope[];
  /** The answers that it may have in this state: `ok`, or codes of failures. */
  readonly allows: (model: Model, call: Call) => readonly string[];
  /** Whether the row that a write left may be of this call. Without it the operation writes nothing. */
  readonly isOf?: (fact: Fact, call: Call, moment: Moment) => boolean;
  /** Changes the model as the write does, and says what became of it. */
  readonly apply?: (moment: Moment, fact: Fact, call: Call) => Omit<Effect, 'fact' | 'fits'>;
  /** Why this cannot be the data of an answer; null where it can. */
  readonly contradicts: (model: Model, data: unknown, effect: Effect | null, call: Call) => string | null;
  /** Documented answers that no plan can have yet, each with the reason. */
  readonly unreached?: Readonly<Record<string, string>>;
}

/** A move of the service itself. */
export type Move = (moment: Moment, fact: Fact) => void;

export interface OracleArea {
  readonly operations?: Readonly<Record<string, OperationRule>>;
  readonly moves?: Readonly<Record<string, Move>>;
}

export const OPERATOR: readonly Scope[] = ['operator'];

/** Those of both lists. */
export function joined(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].toSorted();
}

/** Why a field of an answer is not what it must be. */
export function differs(data: unknown, expected: Readonly<Record<string, unknown>>): string | null {
  const found = (data ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(expected))
    if (JSON.stringify(found[name]) !== JSON.stringify(value))
      return `its ${name} is ${JSON.stringify(found[name])}, not ${JSON.stringify(value)}`;
  return null;
}
