/** The device of a person whose token may only decide: it is registered on the machine, for the owner of the token. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { audited, callLocally } from '../../support/fixtures/workspaces.ts';
import { startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { send } from '../../support/scenario.ts';

const URL = 'https://93.184.215.14/phone';

test('A13: the machine registers a device for another owner, who is named in the list and in the ledger', async (t) => {
  const program = await startProgram(t);
  const made = await callLocally<Projected<'notify.endpoint'>>(program, 'notify.endpoint.add', {
    endpoint: URL,
    owner: 'ana',
  });
  assert.equal(made.owner, 'ana');
  const row = await program.store.db.selectFrom('endpoints').select(['owner', 'token_id']).executeTakeFirstOrThrow();
  assert.deepEqual(row, { owner: 'ana', token_id: 'local:tester' });
  assert.deepEqual(await audited(program), {
    operation: 'notify.endpoint.add',
    target: made.id,
    detail: { owner: 'ana' },
  });
  const listed = await callLocally<Projected<'notify.endpoint.list'>>(program, 'notify.endpoint.list', {});
  assert.deepEqual(listed, [made]);
  await assert.rejects(
    callLocally(program, 'notify.endpoint.add', { endpoint: URL, owner: 'local:root' }),
    refusal('invalid_argument', /^owner: /),
  );
});

test('A13: over HTTP there is no owner to give, and a token that may only decide registers nothing', async (t) => {
  const program = await startProgram(t);
  const request = { method: 'POST', path: '/api/v1/notify/endpoints' } as const;
  const named = await send(program, 'operator', { ...request, body: { endpoint: URL, owner: 'ana' } });
  assert.equal(named.status, 400);
  assert.match(named.text, /owner/);
  assert.equal((await send(program, 'approve', { ...request, body: { endpoint: URL } })).status, 403);
  const own = await send(program, 'operator', { ...request, body: { endpoint: URL } });
  assert.equal(own.status, 200);
  assert.doesNotMatch(own.text, /"owner"/);
});
