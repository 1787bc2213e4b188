import { compileAction, type CompiledAction } from '../domain/rules/fill.ts';
import { type StoredCondition, storedCondition } from '../domain/conditions/condition.ts';
import type { EventFacts } from '../domain/events/event.ts';
import type { RuleAction } from '../domain/rules/actions.ts';
import type { Rule } from '../domain/rules/rule.ts';
import type { Clock } from '../lib/clock.ts';
import type { Keyring } from '../lib/seal.ts';
import { nextTurn } from '../lib/flow/cooperative.ts';
import { checkRuleTag } from '../store/jobs/order-tags.ts';
import { listRules, ruleOf, rulesMark } from '../store/rules/rules.ts';
import type { RuleRow, SilenceRow } from '../store/schema/schema.ts';
import { openSilences, silencesMark } from '../store/rules/silences.ts';
import type { Store } from '../store/store.ts';

/** A rule that is ready to be tried. */
export interface CompiledRule extends Rule {
  readonly version: number;
  /** Whether it matches. An error never counts as a match. */
  evaluate(facts: EventFacts): { readonly value: boolean } | { readonly error: string };
  /** The action with its `${…}` filled in, each checked as the type of its field. */
  fill(facts: EventFacts): { readonly action: RuleAction } | { readonly error: string };
  /** Throws forbidden for a privileged action without the right tag. */
  checkTag(ring: Keyring): void;
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
  rulesFor(source: string): readonly CompiledRule[];
}

/** How long rules count as current if other processes' commits are reported late or never, in milliseconds. */
const CURRENT_MS = 1_000;

interface Compiled {
  readonly rules: readonly (CompiledRule & { readonly sources: readonly string[] | null })[];
  readonly silences: readonly CompiledSilence[];
  /** Enabled rules by the source that they may match, made when it is first asked for. */
  readonly bySource: Map<string, readonly CompiledRule[]>;
}

/** The rules and silences of a store, compiled once for each version of theirs. */
export class CompiledRules {
  readonly #store: Store;
  readonly #clock: Clock;
  #compiled: Compiled | null = null;
  #marks = '';
  /** The last value of the change counter of the store; without a counter, #currentUntil limits the reads. */
  #seen: string | null = null;
  #currentUntil = Number.NEGATIVE_INFINITY;
  #listening = false;
  #refreshing: Promise<Compiled> | null = null;
  #next: Promise<Compiled> | null = null;
  /** By their text: what has the same text was compiled already. */
  #conditions = new Map<string, Promise<StoredCondition>>();
  #actions = new Map<string, Promise<CompiledAction | string>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Includes all that was committed before the call; on PostgreSQL, all that this process was notified of. */
  async current(): Promise<OpenRules> {
    const compiled = await this.#current();
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
    return (await this.#current()).rules.find((rule) => rule.name === name);
  }

  #current(): Promise<Compiled> {
    if (this.#compiled !== null && this.#isCurrent()) return Promise.resolve(this.#compiled);
    if (this.#refreshing === null) {
      const reading = this.#refresh().finally(() => (this.#refreshing = null));
      this.#refreshing = reading;
      return reading;
    }
    // A caller that arrives during a read may know of a later commit. All waiting callers share the next read.
    const again = (): Promise<Compiled> => {
      this.#next = null;
      return this.#current();
    };
    this.#next ??= this.#refreshing.then(again, again);
    return this.#next;
  }

  #isCurrent(): boolean {
    const version = this.#store.version();
    return version === null ? this.#clock.monotonic() < this.#currentUntil : version === this.#seen;
  }

  async #refresh(): Promise<Compiled> {
    this.#listen();
    // Read before the rows: a commit in between is found by the next call.
    const seen = this.#store.version();
    const until = this.#clock.monotonic() + CURRENT_MS;
    this.#currentUntil = until;
    const { db } = this.#store;
    const marks = `${await rulesMark(db)} ${await silencesMark(db)}`;
    const compiled = this.#compiled !== null && marks === this.#marks ? this.#compiled : await this.#read();
    this.#compiled = compiled;
    this.#marks = marks;
    this.#seen = seen;
    return compiled;
  }

  /** Where the store has no cheap counter, it reports the commits of this process and of others. */
  #listen(): void {
    if (this.#listening || this.#store.version() !== null) return;
    this.#listening = true;
    this.#store.onForeignCommit(() => this.forget());
  }

  /** Rules or silences may have changed: they are looked at again before the next event. */
  forget(): void {
    this.#currentUntil = Number.NEGATIVE_INFINITY;
    this.#seen = null;
  }

  async #read(): Promise<Compiled> {
    const { db } = this.#store;
    const [ruleRows, silenceRows] = await Promise.all([listRules(db), openSilences(db)]);
    const rules: Compiled['rules'][number][] = [];
    for (const row of ruleRows) rules.push(await yieldThen(() => this.#compileRule(row)));
    const silences: CompiledSilence[] = [];
    for (const row of silenceRows) silences.push(await yieldThen(() => this.#compileSilence(row)));
    this.#dropOthers(ruleRows, silenceRows);
    return { rules, silences, bySource: new Map() };
  }

  async #compileRule(row: RuleRow): Promise<Compiled['rules'][number]> {
    const rule = ruleOf(row);
    const [condition, action] = await Promise.all([this.#condition(row.when_text), this.#action(row, rule)]);
    return {
      ...rule,
      version: row.version,
      sources: condition.sources,
      evaluate: condition.evaluate,
      fill: (facts) => (typeof action === 'string' ? { error: action } : action.fill(facts)),
      checkTag: (ring) => checkRuleTag(ring, row),
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

function fitting({ rules, bySource }: Compiled, source: string): readonly CompiledRule[] {
  return bySource.getOrInsertComputed(source, () =>
    rules.filter((rule) => rule.enabled && (rule.sources === null || rule.sources.includes(source))),
  );
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
