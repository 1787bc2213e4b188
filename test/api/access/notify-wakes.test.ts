/** A newly registered device gets at once the notifications that had no target before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';

test('A daemon that registers an endpoint looks for notifications to send, as the other daemons do', async (t) => {
  const program = await startProgram(t);
  const before = program.wakes();
  await callLocally(program, 'notify.endpoint.add', { endpoint: 'https://93.184.215.14/phone' });
  assert.equal(program.wakes(), before + 1);
});
