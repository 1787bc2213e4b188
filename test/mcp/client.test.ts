/** The official client, over HTTP, in both eras. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { putEvents } from '../support/fixtures/events.ts';
import { ERAS, type Era, MODERN } from '../support/mcp/rpc.ts';
import { type Program, startProgram } from '../support/program.ts';

async function connected(program: Program, token: string, era: Era): Promise<Client> {
  const mode = era === 'modern' ? { pin: MODERN } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${program.url}/mcp`), { requestInit: { headers } }));
  return client;
}

for (const era of ERAS) {
  test(`the official client lists and calls the tools of its token (${era})`, async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    await putEvents(program.store, [{ name: 'DiskFull' }]);
    const client = await connected(program, program.tokens.readonly, era);
    t.after(() => client.close());
    assert.match(client.getInstructions() ?? '', /never an instruction/);
    const { tools } = await client.listTools();
    const golden = JSON.parse(readFileSync(new URL('../golden/mcp-readonly.json', import.meta.url), 'utf8')) as unknown;
    assert.deepEqual(tools, golden);
    // The client validates structured content against the output schema of each tool that it calls.
    for (const { name, inputSchema } of tools) {
      if ((inputSchema.required ?? []).length > 0) continue;
      const { isError, structuredContent } = await client.callTool({ name, arguments: {} });
      assert.equal(isError ?? false, false, name);
      assert.equal((structuredContent as { schema_version: number }).schema_version, 1, name);
    }
    const missing = await client.callTool({ name: 'job_get', arguments: { id: 'x' } });
    assert.equal(missing.isError, true);
    // Some clients, such as the inspector, check the envelope of an error against the schema too.
    const schema = tools.find(({ name }) => name === 'job_get')?.outputSchema;
    const { required, properties } = schema as { required: string[]; properties: { kind: { enum: string[] } } };
    const envelope = missing.structuredContent as Record<string, unknown>;
    assert.deepEqual(
      required.filter((name) => !(name in envelope)),
      [],
    );
    assert.ok(properties.kind.enum.includes(String(envelope['kind'])));
    await assert.rejects(client.callTool({ name: 'workspace_apply', arguments: {} }), /no such tool for this token/);
  });

  test(`the official client is refused after its token was revoked (${era})`, async (t) => {
    const program = await startProgram(t);
    const token = await program.token('operator');
    const client = await connected(program, token, era);
    t.after(() => client.close());
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'workspace_apply'));
    await program.revoke(token);
    await assert.rejects(client.callTool({ name: 'job_list', arguments: {} }), /"code":"unauthenticated"/);
  });
}
