/** Deadlines of approvals with real daemons: what passed without one is made up for by the next one that starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`F29: A deadline that passed without a daemon ends the approval at the start; no run (${on})`, async (t) => {
    const fixture = await openFixture(t, { postgres });
    await (await fixture.serve()).stop();
    const { approval, jobId } = await gate(fixture.store, { planned: false, ttlMs: -1 });
    await fixture.serve();
    const job = await fixture.waitFor(jobId, ['cancelled', 'running', 'succeeded', 'failed']);
    assert.deepEqual([job.state, job.started_at], ['cancelled', null]);
    const { state, decided_at: at } = await getApproval(fixture.store.db, approval.id);
    assert.ok(state === 'expired' && at !== null && at >= approval.expires_at);
  });
}
