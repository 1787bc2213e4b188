/** Tokens of programs: what they may not do is tried over the whole table, on each face that takes a token. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { type Agent, NAMED_KINDS } from '../../../src/domain/access/agent.ts';
import type { Scope } from '../../../src/domain/access/scope.ts';
import { isNone } from '../../../src/operations/core/http-face.ts';
import { toolsOf } from '../../../src/operations/core/mcp-face.ts';
import { isWrite, type Operation } from '../../../src/operations/core/operation.ts';
import { kindsNamed } from '../../../src/operations/core/rights/authorize.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { audited, callLocally, makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { pathOf, SAMPLES } from '../../support/attacks/samples.ts';
import { callTool, toolsOfToken } from '../../support/mcp/rpc.ts';
import { type Program, startProgram } from '../../support/program.ts';
import type { Projected } from '../../../src/views/views.ts';
import { missingScopes } from '../../../src/jobs/deciders.ts';
import { DECIDING_SCOPES } from '../../../src/domain/approvals/deciders.ts';
import { refusal } from '../../support/refusal.ts';

interface Attempt {
  readonly status: number;
  readonly text: string;
}

type Try = (program: Program, token: string, operation: Operation) => Promise<Attempt | null>;

interface Held {
  readonly scope: Scope;
  readonly only: Agent['only'];
}

/** The tokens that try. What the requests name, none of them may write. */
const HELD: Readonly<Record<string, Held>> = {
  'for all that an operator does': { scope: 'operator', only: null },
  'for reading': { scope: 'readonly', only: null },
  'for an inventory': { scope: 'operator', only: ['inventory:staging'] },
  'for a workspace': { scope: 'operator', only: ['workspace:lab'] },
  'for one of each kind': { scope: 'operator', only: NAMED_KINDS.map((kind) => `${kind}:mine`).toSorted() },
  'for a name that begins as another one': { scope: 'operator', only: ['inventory:local', 'workspace:now'] },
};

/** In place of a sample that is refused for its form. */
const BODIES: Readonly<Record<string, object>> = {
  'check.add': { name: 'web', kind: 'tcp', interval: '1m', targets: ['a=10.0.0.1:80'] },
};

function bodyOf(id: string): object | undefined {
  return BODIES[id] ?? (SAMPLES[id]?.body as object | undefined);
}

async function request(
  program: Program,
  token: string,
  operation: Operation,
  more: Readonly<Record<string, string>> = {},
): Promise<Attempt | null> {
  const { id, http } = operation;
  if (isNone(http)) return null;
  const body = bodyOf(id);
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${program.url}/api/v1${pathOf(id, http.path)}`, {
    method: http.method,
    headers: { authorization: `Bearer ${token}`, ...type, ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Each tool of the operation; 403 stands for a tool that the token does not have. */
const overMcp: Try = async (program, token, operation) => {
  const [tool] = toolsOf(operation.mcp);
  if (tool === undefined) return null;
  const given = Object.fromEntries(
    Object.entries({ ...SAMPLES[operation.id]?.params, ...bodyOf(operation.id) }).filter(
      ([name]) => tool.preset?.[name] === undefined,
    ),
  );
  try {
    const answer = await callTool(program, token, tool.tool, given);
    const text = JSON.stringify(answer);
    return { status: text.includes('"forbidden"') || text.includes('\\"forbidden\\"') ? 403 : 200, text };
  } catch (error) {
    const text = String(error);
    assert.match(text, /no such tool for this token/);
    return { status: 403, text };
  }
};

const WAYS: Readonly<Record<string, Try>> = {
  'over HTTP': request,
  'with the key of another request': (program, token, operation) =>
    request(program, token, operation, { 'idempotency-key': 'of-another' }),
  'as a tool': overMcp,
};

const WRITES = OPERATIONS.filter(isWrite);

describe('A token of a program', () => {
  test('T01: tries more than 200 ways to a yes and to a write that it has no name for: each is refused', async (t) => {
    const program = await startProgram(t);
    const { approval } = await gate(program.store, { planned: false });
    let tries = 0;
    for (const [what, { scope, only }] of Object.entries(HELD)) {
      const token = await program.token(scope, { owner: 'bot', agent: { only } });
      for (const operation of WRITES) {
        if (mayWrite(operation, { scope, only })) continue;
        for (const [way, attempt] of Object.entries(WAYS)) {
          const answer = await attempt(program, token, operation);
          if (answer === null) continue;
          tries += 1;
          assert.equal(answer.status, 403, `${operation.id} ${way}, ${what}: ${answer.text}`);
        }
      }
    }
    assert.ok(tries > 200, String(tries));
    const { db } = program.store;
    const row = await db
      .selectFrom('approvals')
      .select('state')
      .where('id', '=', approval.id)
      .executeTakeFirstOrThrow();
    assert.equal(row.state, 'pending');
    assert.deepEqual(await db.selectFrom('ledger').select('operation').where('owner', '=', 'bot').execute(), []);
  });

  test('T01: cannot sign in, and is never whom a link is for', async (t) => {
    const program = await startProgram(t);
    const token = await program.token('operator', { owner: 'bot', agent: { only: null } });
    const response = await signIn(program, token);
    assert.equal(response.status, 403);
    assert.equal(response.headers.get('set-cookie'), null);
    const { approval } = await gate(program.store, { planned: false });
    const link = callLocally(program, 'approval.link', { id: approval.id, recipient: 'bot' });
    await assert.rejects(link, refusal('forbidden', /bot/));
  });

  test('does not count as a person who could decide', async (t) => {
    const program = await startProgram(t);
    for (const each of [program.tokens.approve, program.tokens.operator]) await program.revoke(each);
    const owners = (now: number) => missingScopes(program.store, ['ci'], now);
    await program.token('operator', { owner: 'bot', agent: { only: null } });
    assert.deepEqual(await owners(Date.now()), DECIDING_SCOPES);
    await program.token('operator', { owner: 'ana' });
    assert.deepEqual(await owners(Date.now()), []);
  });

  test('writes what names one of its objects, on each face', async (t) => {
    const { program, token } = await bot(t, 'inventory:localhost', 'workspace:net', 'rule:quiet');
    assert.equal((await run(program, token, 'localhost')).status, 202);
    assert.equal((await run(program, token, 'prod')).status, 403);
    await makeWorkspace(program, 'net');
    const tools = (await toolsOfToken(program, token)).map(({ name }) => name);
    assert.ok(tools.includes('workspace_plan') && tools.includes('job_list'), tools.join());
    assert.ok(!tools.includes('check_add'), tools.join());
    assert.equal((await callTool(program, token, 'workspace_plan', { name: 'net' })).isError, undefined);
    assert.equal((await callTool(program, token, 'workspace_plan', { name: 'lab' })).isError, true);
  });

  test('reads as its scope does', async (t) => {
    const { program, token } = await bot(t, 'inventory:localhost');
    for (const path of ['/jobs', '/inventories', '/audit', '/whoami', '/approvals']) {
      const ask = (bearer: string) =>
        fetch(`${program.url}/api/v1${path}`, { headers: { authorization: `Bearer ${bearer}` } });
      assert.equal((await ask(token)).status, (await ask(program.tokens.operator)).status, path);
    }
  });

  test('says of itself what it is, last', async (t) => {
    const { program, token } = await bot(t, 'inventory:localhost', 'rule:quiet');
    const whoami = await fetch(`${program.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
    const { data } = (await whoami.json()) as { data: object };
    assert.deepEqual(Object.entries(data).slice(-2), [
      ['agent', true],
      ['only', ['inventory:localhost', 'rule:quiet']],
    ]);
  });
});

describe('token create', () => {
  test('makes a token of a program of any limit, and keeps it in the list and in the ledger', async (t) => {
    const program = await startProgram(t);
    const given = { name: 'bot', scope: 'operator', inventory: ['b', 'a'], workspace: ['net'], only: ['rule:quiet'] };
    const only = ['inventory:a', 'inventory:b', 'rule:quiet', 'workspace:net'];
    const made = await callLocally<Projected<'token.created'>>(program, 'token.create', given);
    assert.deepEqual([made.agent, made.only], [true, only]);
    const { detail } = (await audited(program)) as { detail: unknown };
    assert.deepEqual(detail, { name: 'bot', scope: 'operator', owner: 'bot', agent: true, only });
    await callLocally(program, 'token.create', { name: 'ci', scope: 'readonly', agent: true });
    await callLocally(program, 'token.create', { name: 'ana', scope: 'approve' });
    const listed = await callLocally<Projected<'token.list'>>(program, 'token.list', {});
    const shown = ['ana', 'bot', 'ci'].map((name) => listed.find((each) => each.name === name));
    assert.deepEqual(
      shown.map((each) => [each?.agent, each?.only]),
      [
        [undefined, undefined],
        [true, only],
        [true, undefined],
      ],
    );
    assert.ok(shown[0] !== undefined && !('agent' in shown[0]));
  });

  const REFUSED: readonly (readonly [string, object, RegExp])[] = [
    ['the scope approve', { scope: 'approve', agent: true }, /^scope: /],
    ['the scope host', { scope: 'host', inventory: ['prod'] }, /^scope: /],
    ['a kind that no request names', { scope: 'operator', only: ['secret:app'] }, /^only\.0: .*workspace/],
    ['a name without a kind', { scope: 'operator', only: ['prod'] }, /^only\.0: /],
    ['an empty name', { scope: 'operator', only: ['rule:'] }, /^only\.0: /],
    ['a bad name of a workspace', { scope: 'operator', workspace: ['A B'] }, /^workspace\.0: /],
    [
      'too many names',
      { scope: 'operator', only: Array.from({ length: 101 }, (_, i) => `rule:r${i}`) },
      /^only: .*100/,
    ],
  ];
  for (const [what, given, message] of REFUSED)
    test(`refuses ${what}, and makes none`, async (t) => {
      const program = await startProgram(t);
      const made = callLocally(program, 'token.create', { name: 'bot', ...given });
      await assert.rejects(made, refusal('invalid_argument', message));
      const rows = await program.store.db.selectFrom('tokens').select('id').where('name', '=', 'bot').execute();
      assert.deepEqual(rows, []);
    });
});

test('A limit that somebody took away in the database makes the token void', async (t) => {
  const { program, token } = await bot(t, 'inventory:staging');
  assert.equal((await run(program, token, 'localhost')).status, 403);
  await program.store.write(async (tx) => {
    await tx.db.updateTable('tokens').set({ agent: null }).where('agent', 'is not', null).execute();
  });
  assert.equal((await run(program, token, 'localhost')).status, 401);
});

test('The page for users lists what a token of each kind may call', () => {
  const page = readFileSync(new URL('../../../docs/how-to/manage-tokens.md', import.meta.url), 'utf8');
  const routed = WRITES.filter(({ http }) => !isNone(http));
  for (const kind of NAMED_KINDS) {
    const calls = routed.filter((operation) => kindsNamed(operation).includes(kind)).map(({ id }) => id);
    const [, listed = ''] = new RegExp(`^\\| \`${kind}\` \\| (.*) \\|$`, 'm').exec(page) ?? [];
    assert.notDeepEqual(calls, []);
    assert.deepEqual(listed.split(', ').toSorted(), calls.toSorted(), kind);
  }
});

/** Whether the token may call it with some name. */
function mayWrite({ scopes, noAgents }: Operation, { scope, only }: Held): boolean {
  return only === null && noAgents === undefined && scopes.includes(scope);
}

async function bot(t: TestContext, ...only: readonly string[]): Promise<{ program: Program; token: string }> {
  const program = await startProgram(t);
  return { program, token: await program.token('operator', { agent: { only: only.toSorted() } }) };
}

function run(program: Program, token: string, inventory: string): Promise<Response> {
  return fetch(`${program.url}/api/v1/commands/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ inventory, command: ['true'] }),
  });
}

function signIn(program: Program, token: string): Promise<Response> {
  return fetch(`${program.url}/login`, {
    method: 'POST',
    headers: { origin: program.url },
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  });
}
