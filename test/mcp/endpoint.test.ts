/** The endpoint itself: pages of browsers, what is no message, other methods, the base path. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, before, describe, test } from 'node:test';
import { Peers } from '../../src/faces/http/peers.ts';
import { MODERN, post, rpc } from '../support/mcp/rpc.ts';
import { type Program, startProgram } from '../support/program.ts';
import { exchange, request, split } from '../support/raw-http.ts';
import { judgeAlways } from '../support/scenario.ts';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

/** The status of a list of tools that is asked for with these headers. */
async function statusWith(program: Program, headers: Readonly<Record<string, string>>): Promise<number> {
  const full = {
    Authorization: `Bearer ${program.tokens.readonly}`,
    'Content-Type': 'application/json',
    'Content-Length': String(LIST.length),
    ...headers,
  };
  return split(await exchange(program.port, request('POST', '/mcp', full, LIST))).status;
}

describe('T45: a page in a browser', () => {
  test('of another origin is refused, with a valid token too', async (t) => {
    const program = await startProgram(t);
    const own = `127.0.0.1:${program.port}`;
    for (const Origin of ['http://evil', 'null', 'http://127.0.0.1:1', '', 'file://', `http://${own}.evil`])
      assert.equal(await statusWith(program, { Host: own, Origin }), 403, Origin);
    assert.equal(await statusWith(program, { Host: own, Origin: `http://${own}` }), 200);
    assert.equal(await statusWith(program, { Host: own }), 200);
  });

  test('whose name resolves to loopback is refused by that name', async (t) => {
    const program = await startProgram(t);
    for (const Host of ['evil', `evil:${program.port}`, '127.0.0.1.evil', 'localhost.evil', '1.evil', '[::1].evil'])
      for (const more of [{}, { Origin: `http://${Host}` }])
        assert.equal(await statusWith(program, { Host, ...more }), 403, Host);
    for (const Host of ['localhost', `localhost:${program.port}`, '127.0.0.1', '[::1]:80', '10.0.0.1', 'a.localhost'])
      assert.equal(await statusWith(program, { Host }), 200, Host);
  });

  test('is served under the public name, and behind a trusted proxy under any', async (t) => {
    const plain = await startProgram(t, { publicUrl: 'https://ops.example.com' });
    assert.equal(await statusWith(plain, { Host: 'ops.example.com' }), 200);
    assert.equal(await statusWith(plain, { Host: 'ops.example.com', Origin: 'https://ops.example.com' }), 200);
    assert.equal(await statusWith(plain, { Host: 'ops.example.com', Origin: 'https://evil.example.com' }), 403);
    assert.equal(await statusWith(plain, { Host: 'evil.example.com' }), 403);
    const proxied = await startProgram(t, { peers: new Peers(['127.0.0.1']) });
    assert.equal(await statusWith(proxied, { Host: 'ops.example.com' }), 200);
    assert.equal(await statusWith(proxied, { Host: 'ops.example.com', Origin: 'https://evil.example.com' }), 403);
  });
});

describe('A message', () => {
  let program: Program;
  before(async () => {
    program = await startProgram(null);
  });
  after(() => program.close());

  const wrong: readonly (readonly [string, string | Uint8Array, number, number, Readonly<Record<string, string>>?])[] =
    [
      ['that is no JSON', '{"jsonrpc":', 400, -32_700],
      ['that is no object', '7', 400, -32_700],
      ['in a batch', `[${LIST},${LIST}]`, 400, -32_700],
      ['in an empty batch', '[]', 400, -32_700],
      ['of 1 MiB and more', `{"x":"${'a'.repeat(1_048_576)}"}`, 400, -32_700],
      ['100,000 levels deep', '{"a":'.repeat(100_000), 400, -32_700],
      ['with a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32_700],
      [
        'with __proto__',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"polluted":1}}}',
        400,
        -32_700,
      ],
      ['that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, -32_700],
      ['that is compressed', gzipSync(LIST), 400, -32_700, { 'content-encoding': 'gzip' }],
      ['of another type', LIST, 400, -32_700, { 'content-type': 'text/plain' }],
      ['of a form', LIST, 400, -32_700, { 'content-type': 'multipart/form-data; boundary=x' }],
      ['of another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
      ['without a method', '{"jsonrpc":"2.0","id":1}', 400, -32_600],
      ['with an object as its id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
      ['that is empty', '', 400, -32_600],
      ['of an unknown revision', LIST, 400, -32_000, { 'mcp-protocol-version': '2019-01-01' }],
      ['of a modern revision without its fields', LIST, 400, -32_602, { 'mcp-protocol-version': MODERN }],
      ['with an unknown method', '{"jsonrpc":"2.0","id":1,"method":"no/such"}', 200, -32_601],
      ['with a tool and no name', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32_602],
      [
        'with arguments that are a list',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"job_list","arguments":[]}}',
        200,
        -32_602,
      ],
      ['that subscribes to changes', '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}', 404, -32_601],
    ];
  for (const [what, body, status, code, headers = {}] of wrong)
    test(`T49: ${what} is refused`, async () => {
      const answer = await post(program, program.tokens.readonly, { body, headers });
      assert.deepEqual([answer.status, answer.error?.code], [status, code], answer.text);
      assert.equal((JSON.parse(answer.text) as { jsonrpc: string }).jsonrpc, '2.0');
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      judgeAlways(answer.headers);
      assert.deepEqual(program.logged, []);
    });

  test('of a revision to come is refused with the revisions that are served', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2030-01-01',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { status, text } = await post(program, program.tokens.readonly, {
      headers: { 'mcp-protocol-version': '2030-01-01', 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
    });
    assert.equal(status, 400);
    assert.match(text, /-32022.*"supported":\["2026-07-28"\]/);
  });

  test('whose headers differ from its body is refused', async () => {
    const params = { name: 'job_list', arguments: {} };
    const { status, text } = await rpc(program, program.tokens.readonly, 'tools/call', params, { era: 'modern' });
    assert.equal(status, 200, text);
    const body = (name: string): string =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, name, _meta: META } });
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'job_list' };
    const other = await post(program, program.tokens.readonly, { headers, body: body('secret_list') });
    assert.deepEqual([other.status, other.error?.code], [400, -32_020]);
  });

  test('that expects no answer gets none', async () => {
    const answer = await post(program, program.tokens.readonly, {
      body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    });
    assert.deepEqual([answer.status, answer.text], [202, '']);
  });

  test('of each revision of 2025 is answered in that revision, as JSON and without a session', async () => {
    for (const protocolVersion of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      const hello = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const { headers, result } = await rpc(program, program.tokens.readonly, 'initialize', hello);
      assert.equal((result as { protocolVersion: string }).protocolVersion, protocolVersion);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(headers.get('mcp-session-id'), null);
    }
  });
});

const META = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };

describe('The path', () => {
  test('answers 405 to every other method', async (t) => {
    const program = await startProgram(t);
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      const { status, headers, error } = await post(program, program.tokens.readonly, { method });
      assert.deepEqual([status, headers.get('allow'), error?.code], [405, 'POST', -32_000], method);
      judgeAlways(headers);
    }
  });

  test('is below the base path, and has one spelling', async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    assert.equal((await rpc(program, program.tokens.readonly, 'tools/list')).status, 200);
    const { origin } = new URL(program.url);
    for (const path of ['/mcp', '/ops/mcp/', '/ops//mcp', '/ops/MCP']) {
      const headers = { authorization: `Bearer ${program.tokens.readonly}`, 'content-type': 'application/json' };
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: LIST });
      assert.equal(response.status, 404, path);
      await response.text();
    }
  });

  test('a fault of the service is an error without its text, and is logged', async (t) => {
    const program = await startProgram(t, {
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, name, receiver) {
            if (name === 'db') throw new Error('secret words');
            return Reflect.get(target, name, receiver) as unknown;
          },
        }),
    });
    const params = { name: 'workspace_list' };
    const { status, text } = await rpc(program, program.tokens.readonly, 'tools/call', params);
    assert.equal(status, 200);
    assert.match(text, /"code":"internal"/);
    assert.ok(!text.includes('secret words'));
    assert.equal(program.logged.length, 1);
  });
});
