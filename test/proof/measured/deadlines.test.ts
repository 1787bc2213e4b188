/** How late a real daemon ends an approval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPIRE_EVERY_MS } from '../../../src/daemon/approvals/expire.ts';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { auditOf, gate } from '../../support/fixtures/approvals.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`A daemon ends an approval at its deadline, not at its next round (${on})`, async (t) => {
    const fixture = await openFixture(t, { postgres });
    await fixture.serve();
    const { approval, jobId } = await gate(fixture.store, { planned: false, ttlMs: 1_000 });
    await fixture.waitFor(jobId, ['cancelled']);
    const { state, decided_at: at } = await getApproval(fixture.store.db, approval.id);
    assert.equal(state, 'expired');
    const lateMs = (at ?? 0) - approval.expires_at;
    t.diagnostic(`${lateMs} ms after the deadline`);
    assert.ok(lateMs >= 0 && lateMs < EXPIRE_EVERY_MS / 2, `${lateMs} ms after the deadline`);
    assert.deepEqual(
      (await auditOf(fixture.store, approval.id)).map(({ operation }) => operation),
      ['approval.expire'],
    );
  });
}
