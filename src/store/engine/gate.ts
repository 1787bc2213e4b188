import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextTurn, YieldTimer } from '../../lib/flow/cooperative.ts';
import { inNoName } from '../../lib/flow/in-name-of.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { Db } from '../schema/schema.ts';
import type { Engine, Later, Savepoint, StoreFault } from './dialect.ts';
import {
  answer,
  causeIn,
  failed,
  type Follower,
  followersOf,
  type Member,
  MemberFailed,
  rethrowAsMember,
  type Settled,
  sums,
} from './group-member.ts';
import { holdSameKey } from './key-in-use.ts';
import { appendLedger, type LedgerEntry } from './ledger.ts';
import type { TagContext } from './tags/tags.ts';
import type { BoundedTotal, Counter, Work, WriteOptions } from './tx.ts';

/** At most this many writes share a commit, so that one transaction stays short. */
const GROUP_MAX = 128;
/** Turns of the event loop that a group waits for others to join, as long as each brings some. */
const JOIN_TURNS = 4;
/** Writes that may wait; more are refused, so that callers learn of an overload at once. */
export const WAITING_MAX = 10_000;
/** Attempts of a write, alone, after a deadlock or a locked row rolled its group back. */
const ATTEMPTS = 3;

interface GateOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The ledger chain of this process. */
  readonly chain: string;
  /** Asked before each transaction. Throws Failure where there is no key: then nothing is written. */
  readonly ring: () => Keyring | Promise<Keyring>;
  readonly tags: TagContext;
}

/**
 * All writes pass this gate. Writes that wait together run in one transaction, one after the other, and each is
 * answered only after the commit (measured on SQLite with synchronous=FULL: 8,700 single commits/s, 120,000 rows/s in
 * groups of 16). When one of them fails, the transaction is undone and the group runs again, each inside its own
 * savepoint: groups without a failure, which are nearly all, are spared the savepoints (on PostgreSQL two of three
 * statements). No foreign I/O belongs inside a write.
 */
export class WriteGate {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #chain: string;
  readonly #ring: GateOptions['ring'];
  readonly #tags: TagContext;
  /** The keyring that is known to be that of the store. */
  #known: Keyring | null = null;
  /** Set once this process has written a keyed row: from then on it writes no other ones. */
  #isKeyed = false;
  #waiting: Member[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor({ engine, clock, chain, ring, tags }: GateOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#chain = chain;
    this.#ring = ring;
    this.#tags = tags;
  }

  write<T>(work: Work<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new Failure('unavailable', 'The store is closed.'));
    if (this.#waiting.length >= WAITING_MAX) {
      return Promise.reject(new Failure('unavailable', `${WAITING_MAX} writes are already waiting.`));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ ...options, work, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= inNoName(() => this.#drain());
    });
  }

  /** Refuses new writes and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    do {
      await this.#gather();
      await this.#runGroup(this.#waiting.splice(0, GROUP_MAX));
    } while (this.#waiting.length > 0);
    this.#running = null;
  }

  /**
   * Lets the requests that arrive together join the same group: a turn of the event loop, and another one as long as
   * each brings more. A commit costs as much as twenty writes (16 senders: 8 in a group with one turn, 16 with this).
   */
  async #gather(): Promise<void> {
    for (
      let turn = 0, before = 0;
      turn < JOIN_TURNS && before < this.#waiting.length && this.#waiting.length < GROUP_MAX;
      turn += 1
    ) {
      if (this.#waiting.some(({ prompt }) => prompt === true)) return;
      before = this.#waiting.length;
      await nextTurn();
    }
  }

  /** Settles every member; never throws. */
  async #runGroup(group: readonly Member[]): Promise<void> {
    try {
      return answer(await this.#transact(group, false));
    } catch (error) {
      const cause = causeIn(error);
      if (this.#faultOf(cause) === 'busy') return this.#runSingly(group);
      if (!(error instanceof MemberFailed) || this.#endsAll(cause)) return this.#refuse(group, cause);
      const [only, ...others] = group;
      if (only !== undefined && others.length === 0) return only.reject(cause);
    }
    try {
      answer(await this.#transact(group, true));
    } catch (error) {
      const cause = causeIn(error);
      if (this.#faultOf(cause) === 'busy') return this.#runSingly(group);
      this.#refuse(group, cause);
    }
  }

  /**
   * Runs each write alone, with no more locks than it needs: so groups of two processes cannot block each other for
   * good.
   */
  async #runSingly(group: readonly Member[]): Promise<void> {
    for (const member of group) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          answer(await this.#transact([member], false, true));
          break;
        } catch (error) {
          const cause = causeIn(error);
          if (this.#faultOf(cause) === 'busy' && attempt < ATTEMPTS) continue;
          member.reject(this.#explain(cause));
          break;
        }
      }
    }
  }

  /**
   * Runs the group in one transaction, and unless it is `alone` what its members want to follow. Throws MemberFailed
   * for what a member threw, unless members are `apart`.
   */
  async #transact(group: readonly Member[], apart: boolean, alone = false): Promise<Settled[]> {
    const found = this.#ring();
    const ring = found instanceof Promise ? await found : found;
    let known = this.#known;
    let keyed = this.#isKeyed;
    const sent: Promise<unknown>[] = [];
    const run = async (db: Db, savepoint: Savepoint, later: Later): Promise<Settled[]> => {
      const laterOfMember: Later = (statement) => {
        sent.push(statement);
        later(statement.catch(rethrowAsMember));
      };
      const settled: Settled[] = [];
      const breather = new YieldTimer(this.#clock);
      for (const member of group) {
        if (breather.isDue) await breather.breathe();
        settled.push(
          apart
            ? await this.#runApart(member, db, ring, savepoint)
            : await this.#run(member, db, ring, laterOfMember).catch(rethrowAsMember),
        );
      }
      for (const follower of followersOf(settled))
        settled.push(alone ? failed(follower, null) : await this.#runApart(follower, db, ring, savepoint));
      const entries = settled.flatMap((each) => each.entries);
      if (entries.length > 0) {
        const now = this.#clock.now();
        if (ring !== known) known = await holdSameKey({ db, now }, ring, this.#tags);
        keyed = await appendLedger(db, { chain: this.#chain, at: now, ring: known, isKeyed: keyed, later }, entries);
      }
      for (const [counter, count] of sums(settled)) later(counter.add(db, count));
      // A write with listeners in this process has listeners in the others.
      if (settled.some((each) => each.notify.length > 0)) later(this.#engine.announce(db));
      return settled;
    };
    try {
      const settled = await this.#engine.transaction(run);
      this.#known = known;
      this.#isKeyed = keyed;
      return settled;
    } catch (error) {
      const thrown = causeIn(error);
      const cause = await this.#causeOf(thrown, sent);
      throw cause === thrown ? error : new MemberFailed(cause);
    }
  }

  /**
   * The error of the first failed statement that was not awaited, else what was thrown: what follows a statement that
   * failed, such as a row that is not there, has no useful error.
   */
  async #causeOf(thrown: unknown, sent: readonly Promise<unknown>[]): Promise<unknown> {
    for (const each of await Promise.allSettled(sent)) {
      if (each.status === 'rejected' && this.#faultOf(each.reason) !== 'aborted') return each.reason;
    }
    return thrown;
  }

  async #run(member: Member, db: Db, ring: Keyring, later: Later): Promise<Settled> {
    const entries: LedgerEntry[] = [];
    const notify: (() => void)[] = [];
    const counted: Counter[] = [];
    const followers: Follower[] = [];
    const growths = new Map<BoundedTotal, number>();
    const value = await member.work({
      db,
      dialect: this.#engine.dialect,
      now: this.#clock.now(),
      ring,
      ...this.#tags,
      record: (entry) => void entries.push(entry),
      count: (counter) => void counted.push(counter),
      grow: (total, by) => void growths.set(total, (growths.get(total) ?? 0) + by),
      follow: (work, orElse) => void followers.push({ work, orElse }),
      afterCommit: (callback) => void notify.push(callback),
      announce: () => void notify.push(() => undefined),
      later,
    });
    for (const [total, growth] of growths) if (growth > 0) await total.require(db, growth);
    return { member, value, entries, counted, followers, notify };
  }

  async #runApart(member: Member, db: Db, ring: Keyring, savepoint: Savepoint): Promise<Settled> {
    const sent: Promise<unknown>[] = [];
    const later: Later = (statement) => {
      statement.catch(() => undefined);
      sent.push(statement);
    };
    try {
      return await savepoint(async () => {
        const done = await this.#run(member, db, ring, later);
        await Promise.all(sent);
        return done;
      });
    } catch (thrown) {
      const error = await this.#causeOf(thrown, sent);
      if (this.#endsAll(error) || this.#faultOf(error) === 'busy') throw new MemberFailed(error);
      return failed(member, error);
    }
  }

  /** Some faults end the whole transaction, regardless of the member. */
  #endsAll(error: unknown): boolean {
    return ['full', 'lost'].includes(this.#faultOf(error));
  }

  #faultOf(error: unknown): StoreFault {
    return this.#engine.dialect.faultOf(error);
  }

  #refuse(group: readonly Member[], error: unknown): void {
    const failure = this.#explain(error);
    for (const member of group) member.reject(failure);
  }

  #explain(error: unknown): unknown {
    const fault = this.#faultOf(error);
    if (fault === 'full') return new Failure('unavailable', 'The disk of the store is full: nothing was written.');
    if (fault === 'lost')
      return new Failure('unavailable', 'The store cannot be reached: nothing is known to be written.');
    if (fault === 'busy') return new Failure('unavailable', 'The store is busy: nothing was written.');
    return error;
  }
}
