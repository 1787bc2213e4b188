import type { Clock } from '../clock.ts';

export interface TurnLimits {
  /** How long one turn of the event loop starts or continues tasks, in milliseconds. */
  readonly turnMs: number;
  /** Tasks of one holder that have a place at a time; the next waits until one of them gives it back. */
  readonly placesEach: number;
  /** Tasks that wait: of one holder, and of all. */
  readonly waitingEach: number;
  readonly waiting: number;
}

/** The queue of waiting tasks is full. */
export class TurnsFull extends Error {
  constructor() {
    super('Too many tasks wait for their turn.');
    this.name = 'TurnsFull';
  }
}

interface Waiter {
  readonly takesPlace: boolean;
  readonly go: () => void;
  /** Null for the next part of a task. */
  readonly refuse: ((reason: TurnsFull) => void) | null;
}

/** What a holder has used since one began to wait, in milliseconds of the event loop, and what it has now. */
interface Account {
  spentMs: number;
  /** Tasks in progress, and how many of them have a place. */
  tasks: number;
  places: number;
  readonly waiting: Waiter[];
}

/** Callbacks in one turn of the event loop that start a task each, while there is time. */
const STARTS_MAX = 32;

/**
 * Shares the event loop between holders by the time that their tasks take. While a turn of the loop has time left and
 * no task waits, a task continues at once and costs one look at the clock. Otherwise tasks wait, and the next is that
 * of the holder that has spent the least since one began to wait: each continues in a separate callback, so that what
 * it takes up to its first wait for something else can be measured. What tasks take after that is divided among those
 * in progress.
 */
export class FairTurns {
  readonly #clock: Clock;
  readonly #limits: TurnLimits;
  readonly #accounts = new Map<string, Account>();
  #waiting = 0;
  #refused = 0;
  #tasks = 0;
  /** Whether a callback will begin the next turn. */
  #isArmed = false;
  #until = 0;
  /** Whose task the loop works on, and since when. */
  #current: Account | null = null;
  #since = 0;
  /** When the turn began, and what of it is on an account. */
  #turnAt = 0;
  #counted = 0;
  /** What the holder had spent that went on last: one that begins to wait starts there, without credit for its rest. */
  #level = 0;

  constructor(clock: Clock, limits: TurnLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Tasks that were refused because too many waited, since the beginning. */
  get refused(): number {
    return this.#refused;
  }

  /** Tasks in progress. */
  get tasks(): number {
    return this.#tasks;
  }

  /** Accounts that are kept: none while nothing waits and no task is in progress. */
  get holders(): number {
    return this.#accounts.size;
  }

  /** Undefined where the task may go on at once. Throws, or rejects, with TurnsFull. */
  enter(holder: string): Promise<void> | undefined {
    this.#makeRoom(holder);
    return this.#take(holder, false, true);
  }

  /**
   * The same, with a place: afterwards `leave` has to be called once, or `detach` and then `end`, unless this throws or
   * rejects.
   */
  start(holder: string): Promise<void> | undefined {
    this.#makeRoom(holder);
    return this.#take(holder, true, true);
  }

  /** The next part of a task that has begun: it is never refused. */
  goOn(holder: string): Promise<void> | undefined {
    return this.#take(holder, false, false);
  }

  /** The task is done. */
  leave(holder: string): void {
    this.detach(holder);
    this.end(holder);
  }

  /** Gives the place back while the task continues: it keeps its share of the time. */
  detach(holder: string): void {
    const account = this.#accounts.get(holder);
    if (account === undefined) return;
    account.places -= 1;
    if (!this.#isArmed && this.#waiting > 0) this.#beginTurn(this.#clock.monotonic());
  }

  /** A task without a place is done. */
  end(holder: string): void {
    const account = this.#accounts.get(holder);
    if (account === undefined) return;
    account.tasks -= 1;
    this.#tasks -= 1;
    if (!this.#isArmed && account.tasks === 0 && account.waiting.length === 0) this.#accounts.delete(holder);
  }

  /** Where all that may wait do, the newest one of the holder with the most is refused in place of one with fewer. */
  #makeRoom(holder: string): void {
    if (this.#waiting === 0) return;
    const own = this.#accounts.get(holder)?.waiting.length ?? 0;
    if (own >= this.#limits.waitingEach) throw this.#refusal();
    if (this.#waiting < this.#limits.waiting) return;
    let most: Account | undefined;
    for (const account of this.#accounts.values())
      if (account.waiting.length > (most?.waiting.length ?? own + 1)) most = account;
    const newest = most?.waiting.findLastIndex(({ refuse }) => refuse !== null) ?? -1;
    const [refused] = newest < 0 ? [] : (most?.waiting.splice(newest, 1) ?? []);
    if (refused === undefined) throw this.#refusal();
    this.#waiting -= 1;
    refused.refuse?.(this.#refusal());
  }

  #refusal(): TurnsFull {
    this.#refused += 1;
    return new TurnsFull();
  }

  #take(holder: string, takesPlace: boolean, mayBeRefused: boolean): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    this.#close(now);
    const account = this.#accounts.getOrInsertComputed(holder, () => ({
      spentMs: 0,
      tasks: 0,
      places: 0,
      waiting: [],
    }));
    const isFree = !takesPlace || account.places < this.#limits.placesEach;
    // Where no callback is due, those that wait have as many places as they may.
    if (!this.#isArmed) {
      this.#until = now + this.#limits.turnMs;
      this.#beginTurn(now);
      if (isFree) return this.#begin(account, takesPlace, now);
    } else if (isFree && this.#waiting === 0 && now < this.#until) return this.#begin(account, takesPlace, now);
    if (account.waiting.length === 0 && account.tasks === 0) account.spentMs = Math.max(account.spentMs, this.#level);
    this.#waiting += 1;
    return new Promise((go, reject) => account.waiting.push({ takesPlace, go, refuse: mayBeRefused ? reject : null }));
  }

  #begin(account: Account, takesPlace: boolean, now: number): undefined {
    if (takesPlace) {
      account.places += 1;
      account.tasks += 1;
      this.#tasks += 1;
    }
    this.#current = account;
    this.#since = now;
  }

  /** Charges what the task took that went on last. */
  #close(now: number): void {
    if (this.#current === null) return;
    const ms = now - this.#since;
    this.#current.spentMs += ms;
    this.#counted += ms;
    this.#current = null;
  }

  #beginTurn(now: number): void {
    this.#turnAt = now;
    this.#counted = 0;
    this.#isArmed = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const now = this.#clock.monotonic();
    this.#close(now);
    this.#isArmed = false;
    if (this.#waiting === 0) {
      this.#beginAnew();
      return;
    }
    this.#divide(now - this.#turnAt - this.#counted);
    this.#forget();
    if (this.#next() === null) return;
    this.#until = Number.POSITIVE_INFINITY;
    // They run after the loop has looked for new requests, which take part then.
    for (let count = Math.min(this.#waiting, STARTS_MAX); count > 0; count -= 1) setImmediate(() => this.#startNext());
    this.#beginTurn(now);
  }

  #startNext(): void {
    const now = this.#clock.monotonic();
    this.#close(now);
    // The first of a turn continues in any case.
    if (this.#until === Number.POSITIVE_INFINITY) this.#until = now + this.#limits.turnMs;
    else if (now >= this.#until) return;
    const account = this.#next();
    if (account === null) return;
    const [waiter] = account.waiting.splice(this.#firstOf(account), 1);
    if (waiter === undefined) return;
    this.#waiting -= 1;
    this.#level = Math.max(this.#level, account.spentMs);
    this.#begin(account, waiter.takesPlace, now);
    waiter.go();
  }

  /** The account with a task that may go on, and the least time spent; null without one. */
  #next(): Account | null {
    let least: Account | null = null;
    for (const account of this.#accounts.values())
      if ((least === null || account.spentMs < least.spentMs) && this.#firstOf(account) >= 0) least = account;
    return least;
  }

  /** The first task that may go on: one that needs a place waits for it, and holds no other one up. -1 without one. */
  #firstOf({ waiting, places }: Account): number {
    if (places < this.#limits.placesEach) return waiting.length === 0 ? -1 : 0;
    return waiting.findIndex(({ takesPlace }) => !takesPlace);
  }

  /** What no start explains: answers of a database and of threads, and readers with room, on which tasks continue. */
  #divide(ms: number): void {
    if (ms <= 0 || this.#tasks === 0) return;
    for (const account of this.#accounts.values()) account.spentMs += (ms * account.tasks) / this.#tasks;
  }

  /** Accounts that differ in nothing from one that begins now. */
  #forget(): void {
    for (const [holder, account] of this.#accounts)
      if (account.tasks === 0 && account.waiting.length === 0 && account.spentMs <= this.#level)
        this.#accounts.delete(holder);
  }

  /** When no task waits, nothing has to be shared. */
  #beginAnew(): void {
    this.#level = 0;
    for (const account of this.#accounts.values()) account.spentMs = 0;
    this.#forget();
  }
}
