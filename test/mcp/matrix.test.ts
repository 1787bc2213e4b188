/** Every tool × every identity, and what a refusal says and touches. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Scope } from '../../src/domain/access/scope.ts';
import { toolsOf } from '../../src/operations/core/mcp-face.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { post, rpc } from '../support/mcp/rpc.ts';
import { type Program, startProgram } from '../support/program.ts';
import { judgeAlways } from '../support/scenario.ts';
import { alarmed } from '../support/store/alarmed.ts';

const CALLERS = ['readonly', 'operator', 'approve'] as const;
const OUTSIDERS = ['none', 'garbage', 'expired', 'revoked', 'session', 'host'] as const;

/** The contract's words, by the name of a tool. */
function permits(scope: Scope, name: string): boolean {
  if (/^approval_(approve|reject)$/.test(name)) return scope === 'approve';
  if (name === 'approval_plan') return scope !== 'readonly';
  if (/^(check|netgroup)_(add|update|set|enable|disable|remove)$/.test(name)) return scope === 'operator';
  return /^workspace_(plan|apply)$/.test(name) ? scope === 'operator' : true;
}

describe('The matrix of tools', () => {
  const alarm = { touched: 0 };
  let program: Program;
  before(async () => {
    program = await startProgram(null, { wrapStore: (store) => alarmed(store, alarm) });
  });
  after(() => program.close());

  for (const { face } of OPERATIONS.flatMap(({ mcp }) => toolsOf(mcp).map((face) => ({ face })))) {
    for (const scope of CALLERS) {
      test(`T04: ${face.tool} as ${scope}`, async () => {
        const token = program.tokens[scope];
        const unknown = await rpc(program, token, 'tools/call', { name: 'no_such' });
        alarm.touched = 0;
        // No operation has this field: a permitted caller gets this refusal, and nothing runs.
        const call = { name: face.tool, arguments: { no_such_field: 1 } };
        const answer = await rpc(program, token, 'tools/call', call);
        assert.equal(alarm.touched, 0, 'a refused call read or wrote the store');
        if (permits(scope, face.tool)) assert.match(answer.text, /no_such_field.*no such field here/);
        else assert.equal(answer.text, unknown.text, 'the answer tells that the tool exists');
      });
    }
  }

  for (const identity of OUTSIDERS) {
    test(`T01 T03: /mcp as ${identity}`, async () => {
      const headers = await headersOf(program, identity);
      for (const method of ['POST', 'GET', 'DELETE']) {
        alarm.touched = 0;
        const response = await fetch(`${program.url}/mcp`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          ...(method === 'POST' ? { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' } : {}),
        });
        assert.equal(response.status, identity === 'host' ? 403 : 401);
        judgeAlways(response.headers);
        assert.equal(response.headers.get('www-authenticate'), identity === 'host' ? null : 'Bearer');
        const { kind, error } = (await response.json()) as { kind: string; error: { code: string } };
        assert.deepEqual([kind, error.code], ['error', identity === 'host' ? 'forbidden' : 'unauthenticated']);
        assert.equal(alarm.touched, 0, 'a refused call read or wrote the store');
      }
    });
  }

  test('T07: a token that was revoked between two calls ends the session', async () => {
    const token = await program.token('readonly');
    assert.equal((await rpc(program, token, 'tools/list')).status, 200);
    await program.revoke(token);
    const { status, headers } = await rpc(program, token, 'tools/list');
    assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer']);
  });

  test('where a request has a token and a cookie, the token counts', async () => {
    const cookie = await program.session(program.tokens.operator);
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workspace_plan"}}';
    const { error } = await post(program, program.tokens.readonly, { headers: { cookie }, body });
    assert.equal(error?.code, -32_602);
  });
});

async function headersOf(program: Program, identity: (typeof OUTSIDERS)[number]): Promise<Record<string, string>> {
  if (identity === 'none') return {};
  if (identity === 'session') return { cookie: await program.session(program.tokens.operator) };
  const token = {
    garbage: () => Promise.resolve('svc_garbage'),
    host: () => Promise.resolve(program.tokens.host),
    expired: () => program.token('operator', { expiresAt: Date.now() - 1 }),
    async revoked() {
      const text = await program.token('operator');
      await program.revoke(text);
      return text;
    },
  }[identity];
  return { authorization: `Bearer ${await token()}` };
}
