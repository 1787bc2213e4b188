/** The names that the service uses for itself: no token and no owner can have one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { examinePrivilegePosture } from '../../../src/doctor/jobs/privilege-posture.ts';
import type { Facts } from '../../../src/doctor/entry.ts';
import { mintLinks } from '../../../src/operations/approvals/approval-links.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { ask, openDecisionFixture } from '../../support/fixtures/decisions.ts';
import { startProgram } from '../../support/program.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { rewrite } from '../../support/store/rewrite.ts';

const RESERVED = ['gatehouse', 'daemon', 'local', 'notify', 'rule', 'schedule', 'transport', 'webhook'];

const refused = (field: string) => (error: Failure) =>
  error.code === 'invalid_argument' && error.message.startsWith(`${field}: this name is reserved for the service`);

describe('A name of the service', () => {
  test('is refused for a token and for an owner', async (t) => {
    const program = await startProgram(t);
    for (const name of RESERVED) {
      await assert.rejects(callLocally(program, 'token.create', { name, scope: 'readonly' }), refused('name'), name);
      await assert.rejects(
        callLocally(program, 'token.create', { name: 'phone', owner: name, scope: 'approve' }),
        refused('owner'),
        name,
      );
    }
    for (const name of ['gatehouse-ops', 'rules', 'local.ops'])
      await callLocally(program, 'token.create', { name, scope: 'readonly' });
  });

  test('of an earlier build remains a person, is named by the doctor, and does not act as the service', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { program } = fixture;
    await program.token('approve', { name: 'old', owner: 'gatehouse' });
    const asked = await fixture.gate();
    const { approve } = await fixture.links(asked.approvalId, 'gatehouse');
    assert.equal((await ask(approve, 'POST')).status, 200);
    // It asked, and the service makes the links of others all the same.
    const other = await fixture.gate();
    await rewrite(program.store, 'approvals', { owners: JSON.stringify(['gatehouse']) }, other.approvalId);
    await program.store.write((tx) =>
      mintLinks(tx, { origin: fixture.url, approvalId: other.approvalId, recipient: 'ana', madeBy: null }),
    );
    await assert.rejects(fixture.links(other.approvalId, 'gatehouse'), { code: 'forbidden' });
    const facts = { clock: program.services.clock, openedStore: () => program.store } as unknown as Facts;
    const { status, detail } = await examinePrivilegePosture(facts);
    assert.deepEqual(
      [status, /The token old of the owner gatehouse has a name that is reserved for the service/.test(detail)],
      ['warn', true],
    );
  });
});
