import { compileAction, type CompiledAction } from '../../domain/rules/fill.ts';
import { type StoredCondition, storedCondition } from '../../domain/conditions/condition.ts';
import type { EventFacts } from '../../domain/events/event.ts';
import type { RuleAction } from '../../domain/rules/actions.ts';
import type { Rule } from '../../domain/rules/rule.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { checkRule, listRules, readableRule, rulesMark } from '../../store/rules/rules.ts';
import { FollowedData } from '../../store/engine/followed-data.ts';
import type { RuleRow, SilenceRow } from '../../store/schema/schema.ts';
import { openSilences, silencesMark } from '../../store/rules/silences.ts';
import { indexed, type RuleSet } from './rule-set.ts';
import type { Store } from '../../store/store.ts';

/** A rule that is ready to be tried. */
export interface CompiledRule extends Rule {
  readonly version: number;
  readonly tag: string | null;
  /** In milliseconds; a change is another text too, and to be enabled or disabled. */
  readonly createdAt: number;
  readonly changedAt: number;
  /** Whether it matches. An error never counts as a match. */
  evaluate(facts: EventFacts): { readonly value: boolean } | { readonly error: string };
  /** The action with its `${…}` filled in, each checked as the type of its field. */
  fill(facts: EventFacts): { readonly action: RuleAction } | { readonly error: string };
  /** Throws forbidden for a rule that was written into the database. */
  check(tx: Tx): Promise<void>;
}

/** A silence that is open. */
export interface CompiledSilence {
  readonly id: string;
  readonly reason: string;
  /** In milliseconds since the epoch; in OpenRules, by the clock of this process. */
  readonly expiresAt: number;
  /**
   * Whether it stops the rule for this event. A silence that cannot be evaluated stops nothing; the caller reports it.
   */
  stops(rule: string, facts: EventFacts): { readonly value: boolean } | { readonly error: string };
}

/** The rules and silences at one moment. */
export interface OpenRules {
  /** The silences whose time is not over, oldest first. */
  readonly silences: readonly CompiledSilence[];
  /**
   * The enabled rules that may match an event of this source, in the order of their names. A rule that requires other
   * sources is left out.
   */
  readonly rulesFor: (source: string) => RuleSet<CompiledRule>;
}

type FiledRule = CompiledRule & Pick<StoredCondition, 'sources' | 'requires'>;

interface Compiled {
  readonly rules: readonly FiledRule[];
  readonly silences: readonly CompiledSilence[];
  /** Enabled rules by the source that they may match, made when it is first asked for. */
  readonly bySource: Map<string, RuleSet<CompiledRule>>;
}

/** The rules and silences of a store, compiled once for each version of theirs. */
export class CompiledRules {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #compiled: FollowedData<Compiled>;
  /** By their text: what has the same text was compiled already. */
  #conditions = new Map<string, Promise<StoredCondition>>();
  #actions = new Map<string, Promise<CompiledAction | string>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#compiled = new FollowedData(store, clock, {
      tables: ['rules', 'silences'],
      mark: async (db) => `${await rulesMark(db)} ${await silencesMark(db)}`,
      read: () => this.#read(),
    });
  }

  /** Includes all that was committed before the call; on PostgreSQL, all that this process was notified of. */
  async current(): Promise<OpenRules> {
    const compiled = await this.#compiled.current();
    return { silences: await this.#open(compiled.silences), rulesFor: (source) => fitting(compiled, source) };
  }

  /**
   * The silences that are open by the clock of the store, which also set their end; that end is converted to the clock
   * of this process.
   */
  async #open(silences: readonly CompiledSilence[]): Promise<readonly CompiledSilence[]> {
    if (silences.length === 0) return silences;
    const { db, dialect } = this.#store;
    const now = this.#clock.now();
    const aheadMs = (await dialect.clock(db, now)) - now;
    return silences
      .filter(({ expiresAt }) => expiresAt > now + aheadMs)
      .map((silence) => ({ ...silence, expiresAt: silence.expiresAt - aheadMs }));
  }

  /** One rule, also a disabled one. */
  async rule(name: string): Promise<CompiledRule | undefined> {
    return (await this.#compiled.current()).rules.find((rule) => rule.name === name);
  }

  /** Rules or silences may have changed: they are looked at again before the next event. */
  forget(): void {
    this.#compiled.forget();
  }

  async #read(): Promise<Compiled> {
    const { db } = this.#store;
    const [ruleRows, silenceRows] = await Promise.all([listRules(db), openSilences(db)]);
    const rules: FiledRule[] = [];
    for (const row of ruleRows) rules.push(await yieldThen(() => this.#compileRule(row)));
    const silences: CompiledSilence[] = [];
    for (const row of silenceRows) silences.push(await yieldThen(() => this.#compileSilence(row)));
    this.#dropOthers(ruleRows, silenceRows);
    return { rules, silences, bySource: new Map() };
  }

  /** A rule that cannot be read is an error for each event that it matches, and holds up no other (T80). */
  async #compileRule(row: RuleRow): Promise<FiledRule> {
    const { rule, fault } = readableRule(row);
    const condition = await this.#condition(row.when_text);
    const action = fault ?? (await this.#action(row, rule));
    return {
      ...rule,
      version: row.version,
      tag: row.order_tag,
      createdAt: row.created_at,
      changedAt: row.updated_at,
      sources: condition.sources,
      requires: condition.requires,
      evaluate: fault === null ? condition.evaluate : erring(condition, fault),
      fill: (facts) => (typeof action === 'string' ? { error: action } : action.fill(facts)),
      check: (tx) => checkRule(tx, row),
    };
  }

  async #compileSilence({ id, rule, when_text, reason, expires_at }: SilenceRow): Promise<CompiledSilence> {
    const condition = when_text === null ? null : await this.#condition(when_text);
    return {
      id,
      reason,
      expiresAt: expires_at,
      stops: (name, facts) => (rule !== null && rule !== name ? { value: false } : (condition?.evaluate(facts) ?? ALL)),
    };
  }

  #condition(text: string): Promise<StoredCondition> {
    return this.#conditions.getOrInsertComputed(text, storedCondition);
  }

  /** A later version may refuse a text that an earlier one accepted. Then the rule is an error at each event. */
  #action(row: RuleRow, { action, isEarlier }: Rule): Promise<CompiledAction | string> {
    return this.#actions.getOrInsertComputed(actionKey(row), () => compileAction(action, isEarlier).catch(reasonOf));
  }

  #dropOthers(rules: readonly RuleRow[], silences: readonly SilenceRow[]): void {
    const texts = new Set([...rules, ...silences].map(({ when_text }) => when_text));
    for (const text of this.#conditions.keys()) if (!texts.has(text)) this.#conditions.delete(text);
    const actions = new Set(rules.map(actionKey));
    for (const text of this.#actions.keys()) if (!actions.has(text)) this.#actions.delete(text);
  }
}

function fitting({ rules, bySource }: Compiled, source: string): RuleSet<CompiledRule> {
  return bySource.getOrInsertComputed(source, () =>
    indexed(rules.filter((rule) => rule.enabled && (rule.sources === null || rule.sources.includes(source)))),
  );
}

/** Where the condition holds, an error: no rule that it came before is held up. */
function erring({ evaluate }: StoredCondition, error: string): StoredCondition['evaluate'] {
  return (facts) => {
    const answer = evaluate(facts);
    return 'value' in answer && answer.value ? { error } : answer;
  };
}

/** Compiling takes 1 ms and more for each: requests have their turn in between. */
async function yieldThen<T>(make: () => Promise<T>): Promise<T> {
  await nextTurn();
  return make();
}

/** A silence without an expression stops all events of its rule. */
const ALL = { value: true };

/** One text may be of two rules, of which an earlier build stored one. */
function actionKey({ action, bounded_values: bounded }: RuleRow): string {
  return bounded === 1 ? action : `earlier ${action}`;
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'it cannot be parsed';
}
