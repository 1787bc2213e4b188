/** Decision links refuse every form but that of their page, and people who requested the job. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Failure } from '../../../src/domain/failure.ts';
import { toJson } from '../../../src/lib/json.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { ask, ASKER, assertPending, ledger, openDecisionFixture } from '../../support/fixtures/decisions.ts';

describe('The form of a decision link', () => {
  test('takes a reason of 1,000 characters in any alphabet, and line ends as browsers send them', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    const { reject } = await fixture.links(approvalId);
    assert.equal((await ask(reject, 'POST', { reason: `${'漢'.repeat(990)}\r\n${'字'.repeat(9)}` })).status, 200);
    assert.equal((await fixture.approval(approvalId)).reason, `${'漢'.repeat(990)}\n${'字'.repeat(9)}`);
  });

  test('refuses everything else, and nothing is decided', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate();
    const { approve } = await fixture.links(gated.approvalId);
    const forms = [
      { reason: 'x'.repeat(1_001) },
      { reasons: 'x' },
      { reason: 'a\0b' },
      'reason=a&reason=b',
      `reason=${'x'.repeat(10_000)}`,
      '__proto__=x',
    ];
    for (const form of forms)
      assert.equal((await ask(approve, 'POST', form)).status, 400, JSON.stringify(form).slice(0, 60));
    const json = await fetch(approve, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    assert.equal(json.status, 400);
    assert.match(await json.text(), /expected a form/);
    await assertPending(fixture, gated);
  });
});

describe('Four eyes and decision links', () => {
  test('T28: the requester can neither get nor make a link', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    await assert.rejects(fixture.links(approvalId, ASKER), { code: 'forbidden' });
    await fixture.program.store.write((tx) =>
      tx.db
        .updateTable('approvals')
        .set({ owners: toJson([ASKER, 'local:ops']) })
        .execute(),
    );
    await assert.rejects(fixture.links(approvalId, 'ana', 'ops'), { code: 'forbidden' });
    assert.deepEqual(await fixture.program.store.db.selectFrom('decision_links').selectAll().execute(), []);
  });

  test('T28: a link of a requester decides nothing, and the attempt is audited', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate();
    const tokens = await fixture.program.store.write((tx) =>
      insertLinks(tx, { approvalId: gated.approvalId, recipient: ASKER, target: null, madeBy: 'ops' }),
    );
    for (const decision of ['approve', 'reject'] as const) {
      const url = `${fixture.url}/approval/${gated.approvalId}/${decision}?token=${tokens[decision]}`;
      assert.equal((await ask(url, 'GET')).status, 403);
      const { status, text } = await ask(url, 'POST');
      assert.equal(status, 403);
      assert.match(text, /Another person must decide/);
    }
    await assertPending(fixture, gated);
    const refused = (await ledger(fixture)).filter(({ operation }) => operation === 'approval.refused');
    assert.deepEqual(
      refused.map(({ principal, via, target }) => ({ principal, via, target })),
      [
        { principal: ASKER, via: 'link', target: gated.approvalId },
        { principal: ASKER, via: 'link', target: gated.approvalId },
      ],
    );
  });

  test('a link is made for a pending approval only, and the audit row names its recipient', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    const { approve } = await fixture.links(approvalId);
    const made = (await ledger(fixture)).find(({ operation }) => operation === 'approval.link');
    assert.deepEqual(
      { ...made },
      {
        operation: 'approval.link',
        principal: 'local:ops',
        via: 'cli',
        target: approvalId,
        detail: '{"recipient":"ana"}',
      },
    );
    await ask(approve, 'POST');
    await assert.rejects(
      fixture.links(approvalId),
      (error: Failure) => error.code === 'conflict' && error.message.includes('approved already'),
    );
    const { approvalId: late } = await fixture.gate({ ttlMs: -1 });
    await assert.rejects(fixture.links(late), { code: 'conflict' });
    await assert.rejects(fixture.links('apr_00000000000000000000000000'), { code: 'not_found' });
  });
});
