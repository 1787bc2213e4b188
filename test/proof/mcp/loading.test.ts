/** The SDK is in no program that serves no agent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchLoaded } from '../../support/measure/loaded.ts';

test('the daemon loads the SDK with the first message to /mcp', async (t) => {
  const loaded = watchLoaded(t);
  const ofSdk = (): number => loaded.filter((url) => url.includes('/node_modules/@modelcontextprotocol/')).length;
  await import('../../../src/app/serve.ts');
  const { startProgram } = await import('../../support/program.ts');
  const { rpc } = await import('../../support/mcp/rpc.ts');
  const program = await startProgram(t);
  assert.equal((await rpc(program, 'svc_garbage', 'tools/list')).status, 401);
  assert.ok(loaded.some((url) => url.endsWith('/src/faces/mcp/endpoint.ts')));
  assert.equal(ofSdk(), 0);
  assert.equal((await rpc(program, program.tokens.readonly, 'tools/list')).status, 200);
  assert.ok(ofSdk() > 0);
});
