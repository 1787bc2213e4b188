/** T72: a decision link whose owner may not decide any more. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Failure } from '../../../src/domain/failure.ts';
import type { NotifyTarget } from '../../../src/domain/notify/target.ts';
import { mintLinks } from '../../../src/operations/approvals/approval-links.ts';
import { decideByLink, proofOf } from '../../../src/operations/approvals/decision-page.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { retarget } from '../../../src/store/notify/targets.ts';
import { revokeToken } from '../../../src/store/access/tokens.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { addDaemon } from '../../store/engine-fixture.ts';
import {
  ask,
  assertPending,
  type DecisionFixture,
  ledger,
  openDecisionFixture,
} from '../../support/fixtures/decisions.ts';

const tokensOf = (fixture: DecisionFixture, owner: string) =>
  fixture.program.store.db.selectFrom('tokens').selectAll().where('owner', '=', owner).execute();

async function alter(
  fixture: DecisionFixture,
  owner: string,
  change: { readonly revoked_at?: number; readonly expires_at?: number; readonly scope?: 'readonly' | 'operator' },
): Promise<void> {
  for (const { id } of await tokensOf(fixture, owner)) await rewrite(fixture.program.store, 'tokens', change, id);
}

/** What became of the token of the owner after the link was sent. */
const DETOURS: readonly { readonly way: string; readonly act: (fixture: DecisionFixture) => Promise<unknown> }[] = [
  {
    way: 'token was revoked',
    act: async (fixture) => {
      for (const { id } of await tokensOf(fixture, 'ana'))
        await fixture.program.store.write((tx) => revokeToken(tx, id));
    },
  },
  { way: 'token has expired', act: (fixture) => alter(fixture, 'ana', { expires_at: Date.now() - 1 }) },
  {
    way: 'token was replaced by one that only reads',
    act: async (fixture) => {
      await alter(fixture, 'ana', { revoked_at: Date.now() });
      await fixture.program.token('readonly', { owner: 'ana' });
      await fixture.program.token('operator', { owner: 'ana' });
    },
  },
  { way: 'token has another scope', act: (fixture) => alter(fixture, 'ana', { scope: 'operator' }) },
];

for (const postgres of [false, true]) {
  describe(`A decision link on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    for (const { way, act } of DETOURS) {
      test(`T72: decides nothing after its owner's ${way}, and acts again with a new token`, async (t) => {
        const fixture = await openDecisionFixture(t, { postgres });
        const gated = await fixture.gate();
        const links = await fixture.links(gated.approvalId);
        await act(fixture);
        for (const url of [links.approve, links.reject]) {
          const visit = await ask(url, 'GET');
          assert.equal(visit.status, 403);
          assert.match(visit.text, /ana has no active token that may approve\. Nothing was decided\./);
          assert.doesNotMatch(visit.text, /<button|<form/);
          assert.equal((await ask(url, 'POST', { reason: 'let me' })).status, 403);
        }
        await assertPending(fixture, gated);
        const refused = (await ledger(fixture)).filter(({ operation }) => operation === 'approval.refused');
        assert.deepEqual(
          refused.map(({ principal, via }) => [principal, via]),
          [
            ['ana', 'link'],
            ['ana', 'link'],
          ],
        );
        await assert.rejects(
          fixture.links(gated.approvalId),
          (error: Failure) =>
            error.code === 'forbidden' && /ana has no active token of the scope approve/.test(error.message),
        );
        await fixture.program.token('approve', { owner: 'ana' });
        assert.equal((await ask(links.approve, 'POST')).status, 200);
        assert.equal(await fixture.jobState(gated.jobId), 'queued');
      });
    }

    test('T72: of a --notify target acts while a running daemon has this URL under this name', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const { store } = fixture.program;
      const gated = await fixture.gate();
      const [OPS, MOVED] = [
        { name: 'ops', key: 'a'.repeat(64) },
        { name: 'ops', key: 'b'.repeat(64) },
      ];
      const setTargets = (id: string, targets: readonly NotifyTarget[]) =>
        store.write((tx) => retarget(tx, id, targets));
      for (const id of ['dmn_a', 'dmn_b']) await addDaemon(store, id);
      const mint = () =>
        store.write((tx) =>
          mintLinks(tx, {
            origin: fixture.url,
            approvalId: gated.approvalId,
            recipient: 'notify:ops',
            target: OPS.key,
            madeBy: null,
          }),
        );
      await assert.rejects(mint(), { code: 'forbidden' });
      await setTargets('dmn_a', [OPS]);
      const { approve } = await mint();
      assert.equal((await ask(approve, 'GET')).status, 200);
      const assertLapsed = async (): Promise<void> => {
        const { status, text } = await ask(approve, 'GET');
        assert.equal(status, 403);
        assert.match(text, /The notification target notify:ops is no longer configured\. Nothing was decided\./);
        assert.equal((await ask(approve, 'POST')).status, 403);
        await assertPending(fixture, gated);
      };
      // The list changed: a token of that name is no target, and another URL under the name is another target.
      await setTargets('dmn_a', [MOVED]);
      await assertLapsed();
      await setTargets('dmn_b', [OPS]);
      assert.equal((await ask(approve, 'GET')).status, 200, 'the other daemon has it');
      await store.write((tx) =>
        tx.db.updateTable('daemons').set({ stopped_at: tx.now }).where('id', '=', 'dmn_b').execute(),
      );
      await assertLapsed();
      await setTargets('dmn_a', [OPS]);
      assert.equal((await ask(approve, 'POST')).status, 200);
      assert.equal((await fixture.approval(gated.approvalId)).decided_by, 'notify:ops');
    });

    test('T72: of a numbered target of an earlier build that no daemon has taken over decides nothing', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const gated = await fixture.gate();
      const { approve } = await fixture.program.store.write((tx) =>
        insertLinks(tx, { approvalId: gated.approvalId, recipient: 'transport:2', target: null, madeBy: null }),
      );
      assert.equal(
        (await ask(`${fixture.url}/approval/${gated.approvalId}/approve?token=${approve}`, 'POST')).status,
        403,
      );
      await assertPending(fixture, gated);
    });

    test('T72: works while any token of its owner may approve, and never for an owner without one', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const gated = await fixture.gate();
      const { approve } = await fixture.links(gated.approvalId);
      await fixture.program.token('approve', { owner: 'ana' });
      const [first] = await tokensOf(fixture, 'ana');
      await fixture.program.store.write((tx) => revokeToken(tx, first!.id));
      await assert.rejects(fixture.links(gated.approvalId, 'nobody'), { code: 'forbidden' });
      await fixture.program.token('operator', { owner: 'carla' });
      await assert.rejects(fixture.links(gated.approvalId, 'carla'), { code: 'forbidden' });
      await assertPending(fixture, gated);
      assert.equal((await ask(approve, 'POST')).status, 200);
    });

    test('T72: of a revocation and a decision at the same time, the answer matches the outcome', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      for (let round = 0; round < 10; round += 1) {
        const owner = `racer-${round}`;
        await fixture.program.token('approve', { owner });
        const gated = await fixture.gate();
        const { approve } = await fixture.links(gated.approvalId, owner);
        const visit = {
          approvalId: gated.approvalId,
          decision: 'approve',
          token: new URL(approve).searchParams.get('token') ?? '',
        };
        const [token] = await tokensOf(fixture, owner);
        const revoked = fixture.program.store.write((tx) => revokeToken(tx, token!.id));
        const [shown] = await Promise.all([
          decideByLink(fixture.runtime, visit, { seen: proofOf(visit.token) }).then(
            ({ show }) => show,
            () => 'refused',
          ),
          revoked,
        ]);
        const { state } = await fixture.approval(gated.approvalId);
        assert.equal(state, shown === 'outcome' ? 'approved' : 'pending');
        if (state === 'pending')
          assert.equal((await decideByLink(fixture.runtime, visit, { seen: proofOf(visit.token) })).show, 'lapsed');
      }
    });
  });
}
