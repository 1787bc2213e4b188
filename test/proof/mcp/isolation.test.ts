/** No answer is that of another request, whatever ids the clients choose. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { type Program, startProgram } from '../../support/program.ts';

const CLIENTS = 20;
/** In `npm test`; with GATEHOUSE_MCP_CALLS the number of the whole run, such as 100000. */
const CALLS = Number(process.env['GATEHOUSE_MCP_CALLS'] ?? 4_000) / CLIENTS;

test('T46: clients whose ids collide get the answers to their own calls', async (t) => {
  const program = await startProgram(t);
  const jobs = await Promise.all(Array.from({ length: CLIENTS }, () => program.queue()));
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  t.after(() => agent.destroy());
  const crossed: string[] = [];
  await Promise.all(
    jobs.map(async (job, client) => {
      for (let id = 0; id < CALLS; id += 1) {
        const answer = await call(program, agent, job, id, { modern: client % 2 === 0, bySdk: client % 4 < 2 });
        if (answer.id !== id || answer.result?.structuredContent.data.id !== job) crossed.push(JSON.stringify(answer));
      }
    }),
  );
  assert.deepEqual(crossed, []);
});

interface Answer {
  readonly id: number;
  readonly result?: { readonly structuredContent: { readonly data: { readonly id: string } } };
}

/** The era of a message, and whether the SDK answers it. */
interface Way {
  readonly modern: boolean;
  readonly bySdk: boolean;
}

const MODERN = '2026-07-28';

function call(program: Program, agent: Agent, job: string, id: number, { modern, bySdk }: Way): Promise<Answer> {
  const versions = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  // A message with a token for progress has no direct route.
  const meta = { ...(modern ? versions : {}), ...(bySdk ? { progressToken: id } : {}) };
  const params = { name: 'job_get', arguments: { id: job }, ...(modern || bySdk ? { _meta: meta } : {}) };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const era = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'job_get' };
  const headers = {
    authorization: `Bearer ${program.tokens.readonly}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(modern ? era : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${program.url}/mcp`, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve(JSON.parse(text) as Answer)).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
