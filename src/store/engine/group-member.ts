import type { LedgerEntry } from './ledger.ts';
import type { Counter, Work, WriteOptions } from './tx.ts';

/** A write within a group that shares one transaction, and how it is answered. */

export interface Member extends WriteOptions {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export interface Settled {
  readonly member: Member;
  readonly notify: readonly (() => void)[];
  readonly entries: readonly LedgerEntry[];
  readonly counted: readonly Counter[];
  readonly followers: readonly Work<void>[];
  readonly value?: unknown;
  readonly error?: unknown;
}

/** Marks what a member threw, apart from what beginning, keeping the ledger or committing threw. */
export class MemberFailed extends Error {
  constructor(error: unknown) {
    super('a write of the group failed', { cause: error });
  }
}

export function sums(counted: readonly Counter[]): [Counter, number][] {
  const found = new Map<Counter, number>();
  for (const counter of counted) found.set(counter, (found.get(counter) ?? 0) + 1);
  return [...found].toSorted(([a], [b]) => (a.name < b.name ? -1 : 1));
}

/** The work that was asked for, as writes that no caller waits for. */
export function followersOf(settled: readonly Settled[]): Member[] {
  const works = new Set(settled.flatMap((each) => each.followers));
  return [...works].map((work) => ({ work, resolve: () => undefined, reject: () => undefined }));
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
