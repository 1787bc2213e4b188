/** T72: a decision link whose owner may not decide any more. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Failure } from '../../src/domain/failure.ts';
import { decideByLink } from '../../src/operations/decision-page.ts';
import { revokeToken } from '../../src/store/tokens.ts';
import { ask, assertPending, type DecisionSite, ledger, openDecisionSite } from '../support/decision-site.ts';

const tokensOf = (site: DecisionSite, owner: string) => site.program.store.db.selectFrom('tokens').selectAll().where('owner', '=', owner).execute();

async function alter(site: DecisionSite, owner: string, change: { readonly revoked_at?: number; readonly expires_at?: number; readonly scope?: 'readonly' | 'operator' }): Promise<void> {
  await site.program.store.write((tx) => tx.db.updateTable('tokens').set(change).where('owner', '=', owner).execute());
}

/** What became of the token of the owner after the link was sent. */
const DETOURS: readonly { readonly way: string; readonly act: (site: DecisionSite) => Promise<unknown> }[] = [
  {
    way: 'token was revoked',
    act: async (site) => {
      for (const { id } of await tokensOf(site, 'ana')) await site.program.store.write((tx) => revokeToken(tx, id));
    },
  },
  { way: 'token has expired', act: (site) => alter(site, 'ana', { expires_at: Date.now() - 1 }) },
  { way: 'token was replaced by one that only reads', act: async (site) => {
    await alter(site, 'ana', { revoked_at: Date.now() });
    await site.program.token('readonly', { owner: 'ana' });
    await site.program.token('operator', { owner: 'ana' });
  } },
  { way: 'token has another scope', act: (site) => alter(site, 'ana', { scope: 'operator' }) },
];

for (const postgres of [false, true]) {
  describe(`A decision link on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    for (const { way, act } of DETOURS) {
      test(`T72: decides nothing after its owner's ${way}, and acts again with a new token`, async (t) => {
        const site = await openDecisionSite(t, { postgres });
        const gated = await site.gate();
        const links = await site.links(gated.approvalId);
        await act(site);
        for (const url of [links.approve, links.reject]) {
          const visit = await ask(url, 'GET');
          assert.equal(visit.status, 403);
          assert.match(visit.text, /ana has no active token that may approve\. Nothing was decided\./);
          assert.doesNotMatch(visit.text, /<button|<form/);
          assert.equal((await ask(url, 'POST', { reason: 'let me' })).status, 403);
        }
        await assertPending(site, gated);
        const refused = (await ledger(site)).filter(({ operation }) => operation === 'approval.refused');
        assert.deepEqual(refused.map(({ principal, via }) => [principal, via]), [['ana', 'link'], ['ana', 'link']]);
        await assert.rejects(site.links(gated.approvalId), (error: Failure) => error.code === 'forbidden' && /ana has no active token of the scope approve/.test(error.message));
        await site.program.token('approve', { owner: 'ana' });
        assert.equal((await ask(links.approve, 'POST')).status, 200);
        assert.equal(await site.jobState(gated.jobId), 'queued');
      });
    }

    test('T72: acts while any token of its owner may approve, and never for an owner who has none', async (t) => {
      const site = await openDecisionSite(t, { postgres });
      const gated = await site.gate();
      const { approve } = await site.links(gated.approvalId);
      await site.program.token('approve', { owner: 'ana' });
      const [first] = await tokensOf(site, 'ana');
      await site.program.store.write((tx) => revokeToken(tx, first!.id));
      await assert.rejects(site.links(gated.approvalId, 'nobody'), { code: 'forbidden' });
      await site.program.token('operator', { owner: 'carla' });
      await assert.rejects(site.links(gated.approvalId, 'carla'), { code: 'forbidden' });
      await assertPending(site, gated);
      assert.equal((await ask(approve, 'POST')).status, 200);
    });

    test('T72: of a revocation and a decision at the same time, what is answered is what happened', async (t) => {
      const site = await openDecisionSite(t, { postgres });
      for (let round = 0; round < 10; round += 1) {
        const owner = `racer-${round}`;
        await site.program.token('approve', { owner });
        const gated = await site.gate();
        const { approve } = await site.links(gated.approvalId, owner);
        const visit = { approvalId: gated.approvalId, decision: 'approve', token: new URL(approve).searchParams.get('token') ?? '' };
        const [token] = await tokensOf(site, owner);
        const revoked = site.program.store.write((tx) => revokeToken(tx, token!.id));
        const [shown] = await Promise.all([decideByLink(site.home, visit, {}).then(({ show }) => show, () => 'refused'), revoked]);
        const { state } = await site.approval(gated.approvalId);
        assert.equal(state, shown === 'outcome' ? 'approved' : 'pending');
        if (state === 'pending') assert.equal((await decideByLink(site.home, visit, {})).show, 'lapsed');
      }
    });
  });
}
