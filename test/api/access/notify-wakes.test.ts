/** Who registers a device is told at once what nobody could be told of before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';

test('The daemon that registers an endpoint looks for what is to be told, as the others do', async (t) => {
  const program = await startProgram(t);
  const before = program.wakes();
  await callLocally(program, 'notify.endpoint.add', { endpoint: 'https://93.184.215.14/phone' });
  assert.equal(program.wakes(), before + 1);
});
