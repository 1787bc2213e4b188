/**
 * A plain model of the contract beside the service. It hears each call, answer, start and end of a tool, death and
 * commit in their order, and says which of them the contract does not allow. It takes ids and times from what it hears.
 *
 * K1: an answer that was not allowed. K2: a success without a commit. K3: an answer that contradicts the model. K4: a
 * move that was not allowed, or that no one asked for. K5: rows that are not what the moves make. K6: a refusal that
 * has written something. Of the end of all things: quiet.ts.
 */
import type { Exit } from '../../../src/runners/launch/children.ts';
import type { Rows } from '../rules/rules.ts';
import type { Host, Running } from '../world/host.ts';
import { type Asked, type Call, Calls, type Effect } from './calls.ts';
import { differences } from './compare.ts';
import { type Fact, Facts, type Snapshot } from './facts.ts';
import { Model } from './model.ts';
import type { Moment, OperationRule } from './rule.ts';
import { MOVES, RULES } from './rules.ts';

/** What the oracle asks of its world. */
interface Surroundings {
  readonly rows: Rows;
  readonly violated: (rule: string, what: string) => void;
  /** Milliseconds of the world. */
  readonly now: () => number;
  /** The latest time that any clock of the world shows. */
  readonly wall: () => number;
  /** A write may have failed since then, because a disk could not be written. */
  readonly hadFault: (sinceMs: number) => boolean;
  /** A daemon may count as dead that only was late. */
  readonly hasLeases: boolean;
  readonly hostOf: (name: string) => Host | undefined;
}

const APPLY = 'config.apply';

export class Oracle {
  readonly model = new Model();
  readonly #calls = new Calls();
  readonly #facts: Facts;
  readonly #around: Surroundings;
  readonly #daemons = new Map<string, Running>();

  constructor(around: Surroundings) {
    this.#around = around;
    this.#facts = new Facts(around.rows);
  }

  /** It looks at nothing in this world, which has things that it does not model. */
  isAsleep = false;

  called(asked: Asked): Call {
    this.#seeTime();
    const { caller, key } = asked;
    const held = key === undefined ? null : `${caller.owner} ${key}`;
    const [since, startedAt] = [this.model.moves, this.#around.now()];
    const call: Call = { ...asked, held, since, startedAt, allowed: new Set(), effect: null, lostAt: null };
    this.#calls.add(call);
    this.#allow([call]);
    return call;
  }

  /** Also just before and just after a clock is set. */
  timePassed(): void {
    this.#seeTime();
    this.#allow(this.#calls.open());
  }

  answered(call: Call, code: string, data: unknown): void {
    if (this.isAsleep) return;
    this.committed();
    this.#seeTime();
    this.#calls.answered(call);
    const rule = RULES.get(call.operation);
    if (rule === undefined) return;
    this.#allow([call]);
    if (code === 'ok') return this.#succeeded(call, rule, data);
    if (call.effect !== null && !this.#handOn(call))
      this.#around.violated('K6', `${nameOf(call)} was answered ${code}, and was committed`);
    if (code === 'unavailable' && this.#around.hadFault(call.startedAt)) return;
    if (!call.allowed.has(code))
      this.#around.violated('K1', `${nameOf(call)} was answered ${code}; allowed: ${[...call.allowed].join(', ')}`);
  }

  /** Its calls have no answer now. */
  died(who: Running): void {
    this.#calls.lost(who, this.#around.now());
  }

  exited(jobId: string, exit: Exit): void {
    this.model.jobs.get(jobId)?.exits.push(exit);
  }

  /** Looks at what was committed since the last look. */
  committed(): void {
    if (this.isAsleep) return;
    const news = this.#facts.news();
    if (news.length === 0) return;
    this.#seeTime();
    const rows = this.#facts.snapshot();
    this.#learnDaemons(news);
    const left = [...news];
    for (let fact = left.shift(); fact !== undefined; fact = left.shift()) this.#apply(fact, rows, left);
    for (const what of differences(this.model, rows)) this.#around.violated('K5', what);
  }

  rows(): Snapshot {
    return this.#facts.snapshot();
  }

  #succeeded(call: Call, rule: OperationRule, data: unknown): void {
    const { model } = this;
    const { violated } = this.#around;
    // Of several calls for the same, the answers show which is which.
    const isRight = ({ effect }: Call): boolean =>
      effect !== null && rule.contradicts(model, data, effect, call) === null;
    const twin = isRight(call) ? undefined : this.#calls.twins(call).find(isRight);
    if (twin !== undefined && (model.keptFor(call)?.data ?? null) === null) this.#swap(call, twin);
    const kept = model.keptFor(call);
    if (call.effect === null && kept === undefined && rule.isOf !== undefined)
      return violated('K2', `${nameOf(call)} was answered ok, and nothing was committed`);
    if (rule.isOf === undefined && !call.allowed.has('ok'))
      violated('K1', `${nameOf(call)} was answered ok; allowed: ${[...call.allowed].join(', ')}`);
    const effect = call.effect ?? kept?.effect ?? null;
    const first = kept?.data ?? null;
    const wrong =
      first !== null && JSON.stringify(first) !== JSON.stringify(data)
        ? `it was ${JSON.stringify(first)} before`
        : (RULES.get(kept?.operation ?? '') ?? rule).contradicts(model, data, effect, call);
    if (wrong !== null) violated('K3', `${nameOf(call)} was answered ${JSON.stringify(data)}: ${wrong}`);
    if (kept !== undefined) kept.data ??= data;
  }

  /** Another call for the same may be the one that was committed. */
  #handOn(call: Call): boolean {
    const twin = this.#calls.twins(call).find(({ effect }) => effect === null);
    if (twin !== undefined) this.#swap(call, twin);
    return twin !== undefined;
  }

  #swap(one: Call, other: Call): void {
    [one.effect, other.effect] = [other.effect, one.effect];
    for (const call of [one, other]) this.#keep(call);
  }

  /** The answer to its key is that of its effect. */
  #keep({ operation, held, effect }: Call): void {
    if (held === null) return;
    const { keys } = this.model;
    if (effect === null) keys.delete(held);
    else if (keys.get(held)?.effect !== effect) keys.set(held, { operation, effect, data: null });
  }

  #apply(fact: Fact, rows: Snapshot, left: Fact[]): void {
    const rule = RULES.get(fact.operation);
    const move = MOVES.get(fact.operation);
    if (rule === undefined && move === undefined) return;
    const { model } = this;
    const refuse = (why: string): null => {
      this.#around.violated('K4', `${fact.operation} ${why}`);
      return null;
    };
    const first = (operation: string, isIt: (each: Fact) => boolean): boolean => {
      const at = left.findIndex((each) => each.operation === operation && isIt(each));
      for (const each of at < 0 ? [] : left.splice(at, 1)) this.#apply(each, rows, left);
      return at >= 0;
    };
    const moment = { model, rows, first, refuse, isDead: (id: string) => this.#isDead(id) };
    model.moves += 1;
    move?.(moment, fact);
    // An operation that the service carries out by itself is a move.
    if (rule !== undefined && (move === undefined || !fact.principal.startsWith('daemon:'))) {
      const isIt = (call: Call): boolean => isOf(rule, fact, call, moment);
      const fits = new Set(this.#calls.fitting(isIt, this.#around.now()));
      const call = [...fits].find((each) => each.effect === null && model.keptFor(each) === undefined);
      // The parts of a file are recorded before the write that applies it.
      if (call === undefined && left.some(({ operation, owner }) => operation === APPLY && owner === fact.owner))
        return;
      if (call === undefined)
        return void refuse(`of ${fact.target ?? 'all'} by ${fact.owner}, who did not ask for it now`);
      const effect: Effect = { fact, fits, ...rule.apply?.(moment, fact, call) };
      call.effect = effect;
      this.#keep(call);
    }
    this.#allow(this.#calls.open());
  }

  /** Adds what the calls may be answered in this state. */
  #allow(calls: readonly Call[]): void {
    for (const call of calls) {
      const rule = RULES.get(call.operation);
      if (rule === undefined) continue;
      const { credential, scopes: held } = call.caller;
      const scopes = (credential === 'session' ? rule.sessionScopes : undefined) ?? rule.scopes;
      const isPermitted = scopes.some((scope) => held.includes(scope));
      const codes = !isPermitted
        ? ['forbidden']
        : this.model.keptFor(call) === undefined
          ? rule.allows(this.model, call)
          : ['ok'];
      for (const code of codes) call.allowed.add(code);
    }
  }

  #seeTime(): void {
    this.model.nowMs = this.#around.wall();
    this.model.elapsedMs = this.#around.now();
    this.model.latestMs = Math.max(this.model.latestMs, this.model.nowMs);
  }

  #learnDaemons(news: readonly Fact[]): void {
    const isNew = ({ principal }: Fact): boolean =>
      principal.startsWith('daemon:') && !this.#daemons.has(principal.slice('daemon:'.length));
    if (this.#daemons.size > 0 && !news.some(isNew)) return;
    for (const row of this.#around.rows('select id, node from daemons')) {
      const [id, node] = [String(row['id']), String(row['node'])];
      this.model.nodes.add(node);
      const host = this.#around.hostOf(node);
      if (!this.#daemons.has(id) && host !== undefined) this.#daemons.set(id, { host, life: host.life });
    }
  }

  #isDead(daemonId: string): boolean | null {
    const known = this.#daemons.get(daemonId);
    if (known === undefined || this.#around.hasLeases) return null;
    return !known.host.isAlive || known.host.life !== known.life;
  }
}

function isOf(rule: OperationRule, fact: Fact, call: Call, moment: Moment): boolean {
  return (
    call.operation === fact.operation && call.caller.owner === fact.owner && rule.isOf?.(fact, call, moment) === true
  );
}

function nameOf({ operation, caller, raw }: Asked): string {
  return `${operation} ${JSON.stringify(raw)} of ${caller.owner}`;
}
