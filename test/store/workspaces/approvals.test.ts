/** Approvals on each database: how each is settled, once, and how they are listed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EXPIRE_EVERY_MS } from '../../../src/daemon/approvals/expire.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { decide } from '../../../src/operations/approvals/decide.ts';
import { NOT_LOOKED } from '../../../src/operations/approvals/pinned-files.ts';
import {
  findApprovalOfJob,
  getApproval,
  listApprovals,
  listExpired,
  nextDeadline,
  pendingForArtifact,
} from '../../../src/store/approvals/approvals.ts';
import { claimJobs } from '../../../src/store/jobs/claims.ts';
import { auditOf, gate, moveState, SERIAL } from '../../support/fixtures/approvals.ts';
import { ENGINES } from '../engine-fixture.ts';
import { services, database, ask, sweep, codeOf, ids, statesOf } from '../../support/fixtures/decider.ts';

for (const engine of ENGINES) {
  describe(`Approvals on ${engine.name}`, () => {
    test('An approved job is queued, a rejected one is cancelled, and the decision is recorded', async (t) => {
      const store = await (await database(t, engine)).open();
      const yes = await gate(store);
      const { approval, jobState } = await ask(store, yes, 'approve');
      assert.equal(jobState, 'queued');
      assert.deepEqual([approval.state, approval.decided_by, approval.decided_via], ['approved', 'ana', 'api']);
      assert.equal((await findApprovalOfJob(store.db, yes.jobId))?.id, yes.approval.id);
      const no = await gate(store, { workspace: 'dns' });
      const reason = 'not on a Friday';
      await store.write((tx) =>
        decide({ store, services }, tx, {
          approvalId: no.approval.id,
          decision: 'reject',
          reason,
          files: NOT_LOOKED,
          decider: { name: 'ana', owner: 'ana', via: 'link' },
        }),
      );
      assert.equal((await getApproval(store.db, no.approval.id)).reason, reason);
      assert.deepEqual(await statesOf(store, no), ['rejected', 'cancelled']);
      assert.deepEqual(
        (await store.write((tx) => claimJobs(tx, 'dmn_a', 9))).map(({ id }) => id),
        [yes.jobId],
      );
    });

    test('A job that waits for a decision holds no concurrency key; once approved it queues for it', async (t) => {
      const store = await (await database(t, engine)).open();
      const first = await gate(store);
      const second = await gate(store);
      await ask(store, first, 'approve');
      await ask(store, second, 'approve');
      const claimed = await store.write((tx) => claimJobs(tx, 'dmn_a', 9));
      assert.deepEqual(
        claimed.map(({ id }) => id),
        [first.jobId],
      );
    });

    test('T30: A second decision is a conflict that shows the outcome, and changes nothing', async (t) => {
      const store = await (await database(t, engine)).open();
      const gated = await gate(store);
      await ask(store, gated, 'reject');
      const before = await getApproval(store.db, gated.approval.id);
      await assert.rejects(ask(store, gated, 'approve', 'bea'), /is rejected already by ana via api at 20/);
      assert.deepEqual(await getApproval(store.db, gated.approval.id), before);
      assert.equal(
        await codeOf(
          store.write((tx) =>
            decide({ store, services }, tx, {
              approvalId: 'apr_00000000000000000000000000',
              decision: 'approve',
              reason: null,
              files: NOT_LOOKED,
              decider: { name: 'ana', owner: 'ana', via: 'api' },
            }),
          ),
        ),
        'not_found',
      );
    });

    test('T21: A plan of a moved state or another lineage, or a replaced one, is stale for a yes, and a no ends it', async (t) => {
      const store = await (await database(t, engine)).open();
      const moved = await gate(store);
      await moveState(store, SERIAL + 1, { byJob: 'job_mover', via: 'api' });
      await assert.rejects(ask(store, moved, 'approve'), (error: Failure) => {
        assert.equal(error.code, 'stale_plan');
        assert.partialDeepStrictEqual(error.extra, {
          stale: { plan_serial: SERIAL, current_serial: SERIAL + 1, moved_by_job: 'job_mover', moved_via: 'api' },
        });
        return true;
      });
      assert.deepEqual(await statesOf(store, moved), ['pending', 'awaiting_approval']);
      await ask(store, moved, 'reject');
      assert.deepEqual(await statesOf(store, moved), ['rejected', 'cancelled']);

      const renamed = await gate(store, { workspace: 'dns' });
      await store.write(({ db }) =>
        db.updateTable('workspaces').set({ lineage: 'another' }).where('name', '=', 'dns').execute(),
      );
      assert.equal(await codeOf(ask(store, renamed, 'approve')), 'stale_plan');

      const replaced = await gate(store, { workspace: 'web' });
      await store.write(({ db }) =>
        db.updateTable('artifacts').set({ digest: 'another' }).where('id', '=', replaced.artifactId).execute(),
      );
      assert.equal(await codeOf(ask(store, replaced, 'approve')), 'stale_plan');
      await store.write(({ db }) => db.deleteFrom('artifacts').where('id', '=', replaced.artifactId).execute());
      assert.equal(await codeOf(ask(store, replaced, 'approve')), 'stale_plan');
      assert.deepEqual(await statesOf(store, replaced), ['pending', 'awaiting_approval']);
    });

    test('F29: The first pass ends what expired without a daemon, and its job cannot be claimed', async (t) => {
      const store = await (await database(t, engine)).open();
      const gated = await gate(store, { ttlMs: -1 });
      const open = await gate(store, { workspace: 'dns' });
      assert.equal(await codeOf(ask(store, gated, 'approve')), 'conflict');
      assert.deepEqual(await statesOf(store, gated), ['pending', 'awaiting_approval']);
      const nextMs = await sweep(store);
      assert.equal(nextMs, EXPIRE_EVERY_MS);
      assert.deepEqual(await statesOf(store, gated), ['expired', 'cancelled']);
      assert.deepEqual(await statesOf(store, open), ['pending', 'awaiting_approval']);
      assert.deepEqual(await store.write((tx) => claimJobs(tx, 'dmn_a', 9)), []);
      assert.deepEqual(
        (await auditOf(store, gated.approval.id)).map(({ operation, principal }) => [operation, principal]),
        [['approval.expire', 'daemon:dmn_a']],
      );
      await assert.rejects(ask(store, gated, 'approve'), /is expired already at 20/);
    });

    test('More approvals than one batch expire in one pass, which returns the next deadline', async (t) => {
      const store = await (await database(t, engine)).open();
      await Promise.all(Array.from({ length: 130 }, () => gate(store, { planned: false, ttlMs: -1 })));
      await gate(store, { ttlMs: 20_000 });
      const nextMs = await sweep(store);
      assert.ok(nextMs > 10_000 && nextMs <= 20_000, `${nextMs}`);
      assert.equal((await listApprovals(store.db, { all: false }, 500)).length, 1);
      assert.equal(
        (await listApprovals(store.db, { all: true }, 500)).filter(({ state }) => state === 'expired').length,
        130,
      );
    });

    test('Lists are newest first, in batches, and of pending approvals unless all are requested', async (t) => {
      const store = await (await database(t, engine)).open();
      const [a, b, c] = [
        await gate(store, { workspace: 'a' }),
        await gate(store, { workspace: 'b' }),
        await gate(store, { workspace: 'c' }),
      ];
      await ask(store, b, 'reject');
      assert.deepEqual(ids(await listApprovals(store.db, { all: false }, 9)), [c.approval.id, a.approval.id]);
      assert.deepEqual(ids(await listApprovals(store.db, { all: true }, 2)), [c.approval.id, b.approval.id]);
      assert.deepEqual(ids(await listApprovals(store.db, { all: true, before: b.approval.id }, 2)), [a.approval.id]);
      assert.equal(await pendingForArtifact(store.db, a.artifactId), a.approval.id);
      assert.equal(await pendingForArtifact(store.db, b.artifactId), null);
      assert.equal(await nextDeadline(store.db), a.approval.expires_at);
      assert.deepEqual(await listExpired(store.db, a.approval.expires_at - 1, 9), []);
      assert.deepEqual(ids(await listExpired(store.db, a.approval.expires_at, 9)), [a.approval.id]);
    });

    test('One plan has one pending approval', async (t) => {
      const store = await (await database(t, engine)).open();
      const { approval } = await gate(store);
      const twin = { ...approval, id: 'apr_00000000000000000000000001', job_id: 'job_00000000000000000000000001' };
      await assert.rejects(
        store.write(({ db }) => db.insertInto('approvals').values(twin).execute()),
        (error) => store.dialect.faultOf(error) === 'unique',
      );
    });
  });
}
