/** Deciders of approvals, and the pass that ends what expired, past the faces. */
import type { TestContext } from 'node:test';
import { expireOnce } from '../../src/daemon/expire.ts';
import type { Decision } from '../../src/domain/approval.ts';
import { Failure, type FailureCode } from '../../src/domain/failure.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { decide, type Decided } from '../../src/operations/decide.ts';
import { getApproval } from '../../src/store/approvals.ts';
import { getJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import type { Gated } from './approval-maker.ts';
import type { EngineUnderTest, TestDatabase } from '../store/kit.ts';

export const HOUR_MS = 3_600_000;
export const services = { wake: () => undefined, announceJob: () => undefined };

export async function database(t: TestContext, engine: EngineUnderTest): Promise<TestDatabase> {
  const made = await engine.create();
  t.after(() => made.remove());
  return made;
}

export function ask(store: Store, { approval }: Gated, decision: Decision, name = 'ana'): Promise<Decided> {
  const request = { approvalId: approval.id, decision, reason: null, decider: { name, owner: name, via: 'api' } };
  return store.write((tx) => decide({ store, services }, tx, request));
}

export function sweep(store: Store, clock: Clock = systemClock): Promise<number> {
  return expireOnce({ store, clock, announceJob: () => undefined, self: () => 'dmn_a' });
}

export async function codeOf(answer: Promise<unknown>): Promise<FailureCode | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

export function ids(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

export async function statesOf(store: Store, { approval, jobId }: Gated): Promise<readonly string[]> {
  return [(await getApproval(store.db, approval.id)).state, (await getJob(store.db, jobId)).state];
}
