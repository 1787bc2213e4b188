import type { MakeLoop } from '../core/loop.ts';
import type { Clock } from '../../lib/clock.ts';
import { listExpired, nextDeadline, settle, type Due } from '../../store/approvals/approvals.ts';
import { appendState } from '../../store/jobs/chunks.ts';
import { cancelWaiting } from '../../store/jobs/claims.ts';
import type { Store } from '../../store/store.ts';
import { recordMove } from '../jobs/job-transitions.ts';

interface ExpireDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly announceJob: (jobId: string) => void;
  /** The id of this daemon. */
  readonly self: () => string;
}

/** The interval of deadline checks if none is near, in milliseconds: another process may have added one. */
export const EXPIRE_EVERY_MS = 30_000;
/** The size of a batch, which bounds the work after a long stop. */
const BATCH = 100;

/**
 * Ends every pending approval whose deadline has come, and cancels its job: no job runs without an approval. Returns
 * the milliseconds until the next deadline, at most EXPIRE_EVERY_MS. A daemon makes a pass before its first claim.
 */
export async function expireOnce(deps: ExpireDeps, signal?: AbortSignal): Promise<number> {
  const { store, clock } = deps;
  const ended = (): boolean => signal?.aborted === true;
  while (!ended()) {
    // A single read in the usual case without deadlines: every commit of another process leads here.
    const next = await nextDeadline(store.db);
    if (next === null) break;
    const now = await store.dialect.clock(store.db, clock.now());
    if (next > now) return Math.min(next - now, EXPIRE_EVERY_MS);
    for (const due of await listExpired(store.db, now, BATCH)) {
      if (ended()) break;
      await expire(deps, due);
    }
  }
  return EXPIRE_EVERY_MS;
}

/** The approval and its job in one transaction; nothing where a decision came first. */
async function expire({ store, announceJob, self }: ExpireDeps, { id, job_id: jobId }: Due): Promise<void> {
  await store.write(async (tx) => {
    const settled = await settle(tx, id, { to: 'expired', by: null, via: null, reason: null, owner: null });
    if (settled === undefined) return;
    const cancelled = await cancelWaiting(tx, jobId, 'awaiting_approval');
    if (cancelled) await appendState(tx, jobId, 'cancelled', null);
    recordMove(tx, self(), 'approval.expire', id, { job_id: jobId, job_cancelled: cancelled });
    tx.afterCommit(() => announceJob(jobId));
  });
}

export const expireLoop: MakeLoop<ExpireDeps> = (deps) => ({
  name: 'expire',
  everyMs: EXPIRE_EVERY_MS,
  wakeOn: ['after-request'],
  once: async (signal) => ({ dueMs: await expireOnce(deps, signal) }),
});
