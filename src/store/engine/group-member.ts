import type { LedgerEntry } from './ledger.ts';
import type { Counter, Work, WriteOptions } from './tx.ts';

/** A write within a group that shares one transaction, and how it is answered. */

export interface Member extends WriteOptions {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Work that a member wants to be tried after it. */
export interface Follower {
  readonly work: Work<void>;
  readonly orElse: () => void;
}

export interface Settled {
  readonly member: Member;
  readonly notify: readonly (() => void)[];
  readonly entries: readonly LedgerEntry[];
  readonly counted: readonly Counter[];
  readonly followers: readonly Follower[];
  readonly value?: unknown;
  readonly error?: unknown;
}

/** A member that wrote nothing, because of `error`. */
export function failed(member: Member, error: unknown): Settled {
  return { member, error, entries: [], counted: [], followers: [], notify: [] };
}

/** Marks what a member threw, apart from what beginning, keeping the ledger or committing threw. */
export class MemberFailed extends Error {
  constructor(error: unknown) {
    super('a write of the group failed', { cause: error });
  }
}

export function sums(settled: readonly Settled[]): [Counter, number][] {
  const found = new Map<Counter, number>();
  for (const { counted } of settled) for (const counter of counted) found.set(counter, (found.get(counter) ?? 0) + 1);
  return [...found].toSorted(([a], [b]) => (a.name < b.name ? -1 : 1));
}

/** The work that was asked for, as writes that no caller waits for. */
export function followersOf(settled: readonly Settled[]): Member[] {
  const followers = new Map<Follower['work'], Follower>();
  for (const each of settled) for (const follower of each.followers) followers.set(follower.work, follower);
  return [...followers.values()].map(({ work, orElse }) => ({ work, resolve: () => undefined, reject: orElse }));
}

export function causeIn(error: unknown): unknown {
  return error instanceof MemberFailed ? error.cause : error;
}

export function rethrowAsMember(error: unknown): never {
  throw new MemberFailed(error);
}

export function answer(settled: readonly Settled[]): void {
  for (const each of settled) {
    if ('error' in each) each.member.reject(each.error);
    else each.member.resolve(each.value);
  }
  for (const each of settled) for (const notify of each.notify) call(notify);
}

/** A listener that throws is a bug: it is reported, and the gate continues. */
function call(notify: () => void): void {
  try {
    notify();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
