/** T75: one tap, a POST without the form of the page, approves only what is known to destroy nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Decision } from '../../../src/domain/approvals/approval.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import {
  ask,
  assertPending,
  type DecisionFixture,
  type Gated,
  type GateOptions,
  openDecisionFixture,
  tap,
} from '../../support/fixtures/decisions.ts';
import { openHookFixture } from '../../support/fixtures/hooks.ts';

/** A pair whose links are buttons, whatever is asked: the message that was sent decides nothing. */
async function buttons(
  fixture: DecisionFixture,
  { approvalId }: Gated,
  oneTap: readonly Decision[] = ['approve', 'reject'],
): Promise<Record<Decision, string>> {
  const tokens = await fixture.program.store.write((tx) =>
    insertLinks(tx, { approvalId, recipient: 'ana', target: null, madeBy: null, oneTap }),
  );
  const url = (decision: Decision): string =>
    `${fixture.url}/approval/${approvalId}/${decision}?token=${tokens[decision]}`;
  return { approve: url('approve'), reject: url('reject') };
}

const NEVER: readonly (readonly [string, GateOptions])[] = [
  ['a plan that destroys', { destroys: ['terraform_data.a'] }],
  ['a plan that replaces', { destroys: ['terraform_data.a', 'terraform_data.b'] }],
  ['a fresh apply', { planned: false }],
  ['a fresh apply of a rule that allows one tap', { planned: false, oneTap: true }],
  ['a destroy', { planned: false, kind: 'destroy' }],
  ['a destroy of a rule that allows one tap', { planned: false, kind: 'destroy', oneTap: true }],
  ['a destroy with a plan', { kind: 'destroy', oneTap: true }],
  ['a plan run of a rule that allows one tap', { planned: false, kind: 'plan', oneTap: true }],
  ['a command', { planned: false, kind: 'command' }],
];
const ALLOWED: readonly (readonly [string, GateOptions])[] = [
  ['a plan that destroys nothing', {}],
  ['a command of a rule that allows one tap', { planned: false, kind: 'command', oneTap: true }],
];

describe('T75: One tap', () => {
  test('never approves a job that may destroy resources: it opens the page, and the page decides', async (t) => {
    const fixture = await openDecisionFixture(t);
    for (const [what, options] of NEVER) {
      const gated = await fixture.gate(options);
      const { approve } = await buttons(fixture, gated);
      const { status, text } = await tap(approve);
      assert.equal(status, 409, what);
      assert.match(text, /<form method="post">/, what);
      assert.equal((await ask(approve, 'POST', 'reason=let+me')).status, 409, what);
      assert.equal((await ask(approve, 'POST', `seen=${'0'.repeat(64)}`)).status, 409, what);
      await assertPending(fixture, gated);
      assert.equal((await ask(approve, 'POST')).status, 200, what);
      assert.equal(await fixture.jobState(gated.jobId), 'queued', what);
    }
  });

  test('approves a plan without destroys and replacements, and a command whose rule allows it', async (t) => {
    const fixture = await openDecisionFixture(t);
    for (const [what, options] of ALLOWED) {
      const gated = await fixture.gate(options);
      assert.equal((await tap((await buttons(fixture, gated)).approve)).status, 200, what);
      assert.equal(await fixture.jobState(gated.jobId), 'queued', what);
    }
  });

  test('rejects everything', async (t) => {
    const fixture = await openDecisionFixture(t);
    for (const [what, options] of [...NEVER, ...ALLOWED]) {
      const gated = await fixture.gate(options);
      assert.equal((await tap((await buttons(fixture, gated, ['reject'])).reject)).status, 200, what);
      assert.equal(await fixture.jobState(gated.jobId), 'cancelled', what);
    }
  });

  test('is a separate capability: links of svc approval link need the form, to approve and to reject', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate();
    const { approve, reject } = await fixture.links(gated.approvalId);
    for (const url of [approve, reject]) assert.equal((await tap(url)).status, 409);
    // The form of another link proves nothing.
    const [, seen = ''] = /name="seen" value="(\w+)"/.exec((await ask(reject, 'GET')).text) ?? [];
    assert.equal((await ask(approve, 'POST', `seen=${seen}`)).status, 409);
    await assertPending(fixture, gated);
  });

  test('reads the sealed plan: an altered row has no effect, and a plan that does not open is refused', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate({ destroys: ['terraform_data.a'] });
    const { approve } = await buttons(fixture, gated);
    await fixture.program.store.write((tx) => tx.db.updateTable('artifacts').set({ destroys: 0 }).execute());
    assert.equal((await tap(approve)).status, 409);
    const [, seen = ''] = /name="seen" value="(\w+)"/.exec((await ask(approve, 'GET')).text) ?? [];
    await fixture.program.store.write((tx) =>
      tx.db
        .updateTable('artifacts')
        .set({ sealed_view: Buffer.alloc(64) })
        .execute(),
    );
    assert.equal((await tap(approve)).status, 409);
    assert.equal((await ask(approve, 'POST', `seen=${seen}`)).status, 409);
    await assertPending(fixture, gated);
  });
});

const gatedRule = (more: string): string =>
  `when: event.source == "generic"\napproval: required\n${more}action:\n  command: ["true"]\n  inventory: localhost\n`;

test('T75: A request keeps whether its rule allowed one tap at its creation', async (t) => {
  const fixture = await openHookFixture(t);
  const hook = await fixture.hook('generic');
  for (const [more, fingerprint] of [
    ['one_tap: true\n', 'a'],
    ['', 'b'],
    ['one_tap: false\n', 'c'],
  ] as const) {
    await fixture.call('rule.add', { name: 'clean-up', text: gatedRule(more), replace: true });
    const { status } = await fetch(hook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'DiskFull', status: 'firing', fingerprint }),
    });
    assert.equal(status, 202);
  }
  const asked = await fixture.program.store.db.selectFrom('approvals').select('one_tap').orderBy('id').execute();
  assert.deepEqual(
    asked.map((row) => row.one_tap),
    [1, 0, 0],
  );
});
