/** A rerun asks again where the order asked, whatever somebody did to the row of its approval. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { APPROVAL_TTL_MAX_MS } from '../../../src/domain/approvals/approval.ts';
import { cancelJob } from '../../../src/jobs/cancel.ts';
import { askFirst } from '../../../src/jobs/queue.ts';
import { rerunJob } from '../../../src/jobs/rerun.ts';
import { findApprovalOfJob } from '../../../src/store/approvals/approvals.ts';
import type { ApprovalRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { ENGINES, freshStore, makeJob } from '../engine-fixture.ts';

const DEFAULT_TTL_MS = 60_000;
const RULE_TTL_MS = 120_000;
const DEPS = { approvalTtlMs: DEFAULT_TTL_MS, wake: () => undefined };
const MIA = { trigger: 'api', name: 'mia', owner: 'mia', credential: 'token', because: null } as const;

/** A job of a schedule that was cancelled while it waited; answers its id. */
async function cancelled(store: Store): Promise<string> {
  const job = makeJob({ summary: 'clear the cache' });
  const gate = { origin: 'schedule', schedule: 'nightly', ttlMs: RULE_TTL_MS } as const;
  await store.write((tx) => askFirst({ tx, deps: DEPS }, job, gate));
  await store.write((tx) =>
    cancelJob(tx, job.id, { by: 'mia', via: 'cli', owner: null, reason: 'cancelled' }, () => undefined),
  );
  return job.id;
}

/** The approval that a rerun asks for. */
async function askedAgain(store: Store, id: string): Promise<ApprovalRow & { readonly ttlMs: number }> {
  const queued = await store.write((tx) => rerunJob(tx, DEPS, id, MIA));
  assert.ok(queued.state === 'awaiting_approval', queued.state);
  return { ...queued.approval, ttlMs: queued.approval.expires_at - queued.approval.created_at };
}

for (const engine of ENGINES)
  describe(`A rerun on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('asks as before, also where the job was cancelled while it waited', async () => {
      const { schedule, ttlMs } = await askedAgain(its.store, await cancelled(its.store));
      assert.deepEqual([schedule, ttlMs], ['nightly', RULE_TTL_MS]);
    });

    test('T80: asks also where somebody removed the approval of the old job', async () => {
      const { store } = its;
      const id = await cancelled(store);
      await store.write(({ db }) => db.deleteFrom('approvals').execute());
      const { origin, ttlMs } = await askedAgain(store, id);
      assert.deepEqual([origin, ttlMs], ['manual', DEFAULT_TTL_MS]);
    });

    test('T80: takes nothing of an approval that somebody changed', async () => {
      const { store } = its;
      const id = await cancelled(store);
      const forged = { one_tap: 1, rule: 'r', expires_at: 9_000_000_000_000 } as const;
      await store.write(({ db }) => db.updateTable('approvals').set(forged).execute());
      const { origin, rule, one_tap: oneTap, ttlMs } = await askedAgain(store, id);
      assert.deepEqual([origin, rule, oneTap, ttlMs], ['manual', null, 0, DEFAULT_TTL_MS]);
    });

    test('T80: shows the text of the request, not that of the job, which somebody may have changed', async () => {
      const { store } = its;
      const id = await cancelled(store);
      await store.write(({ db }) => db.updateTable('jobs').set({ summary: 'print the date' }).execute());
      assert.equal((await askedAgain(store, id)).summary, 'clear the cache');
    });

    test('T80: gives no request more time than one may have', async () => {
      const { store } = its;
      const id = await cancelled(store);
      await rewrite(store, 'approvals', { expires_at: 9_000_000_000_000 });
      assert.equal((await askedAgain(store, id)).ttlMs, APPROVAL_TTL_MAX_MS);
      assert.equal((await findApprovalOfJob(store.db, id))?.state, 'rejected');
    });
  });
