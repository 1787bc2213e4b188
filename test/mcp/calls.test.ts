/** What tools answer and do: the bytes of the API, bounds, keys, and who may decide. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getApproval } from '../../src/store/approvals/approvals.ts';
import { getJob } from '../../src/store/jobs/jobs.ts';
import { pathFields, isNone } from '../../src/operations/core/http-face.ts';
import { toolsOf } from '../../src/operations/core/mcp-face.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { Prober } from '../../src/operations/checks/prober.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { toJson } from '../../src/lib/json.ts';
import { auditOf, gated } from '../support/fixtures/approvals.ts';
import { putEvents } from '../support/fixtures/events.ts';
import { callLocally, makeWorkspace } from '../support/fixtures/workspaces.ts';
import { callTool, ERAS, outcomeOf, rpc, textOf } from '../support/mcp/rpc.ts';
import { listen, listenHttp } from '../support/network/listener.ts';
import { loopbackProbes } from '../support/network/probing.ts';
import { type Program, startProgram } from '../support/program.ts';

/** A thing for each read to find, by the field that names it. */
async function furnished(t: Parameters<typeof startProgram>[0]): Promise<{ program: Program; ids: Ids }> {
  const program = await startProgram(t);
  const { apr, job } = await gated(program);
  const [event] = await putEvents(program.store, [{ name: 'Größe 𝛑 </script>' }]);
  await callLocally(program, 'netgroup.add', { name: 'home', prefixes: '10.0.0.0/8' });
  await callLocally(program, 'check.add', { name: 'web', kind: 'tcp', interval: '30s', targets: ['a=10.0.0.1:80'] });
  return { program, ids: { approval: apr, job, event: event?.id ?? '' } };
}

const loopbackProber = (): Prober => new Prober(systemClock, () => Promise.resolve(loopbackProbes()));

const addCheck = (program: Program, kind: string, target: string): Promise<unknown> =>
  callLocally(program, 'check.add', { name: 'web', kind, interval: '30s', targets: [target] });

type Ids = Readonly<Record<string, string>>;

const READS = OPERATIONS.filter(({ effect, http }) => effect === 'read' && !isNone(http) && http.method === 'GET');

describe('A tool that reads', () => {
  test('answers the bytes that the API answers, in both eras', async (t) => {
    const { program, ids } = await furnished(t);
    const token = program.tokens.approve;
    let compared = 0;
    for (const { id, http, mcp } of READS) {
      const [face] = toolsOf(mcp);
      if (face === undefined || isNone(http)) continue;
      const given = Object.fromEntries(pathFields(http).map((name) => [name, ids[id.split('.')[0] ?? ''] ?? '']));
      const path = http.path.replaceAll(/\{([a-z_]+)\}/g, (_all, name: string) => given[name] ?? '');
      const response = await fetch(`${program.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
      const text = await response.text();
      assert.equal(response.status, 200, `${path}: ${text}`);
      for (const era of ERAS)
        assert.equal(textOf(await callTool(program, token, face.tool, given, era)), text, `${face.tool}, ${era}`);
      compared += 1;
    }
    assert.ok(compared >= 15, `${compared} were compared`);
  });

  test('workspace_drift answers the one workspace as the list does', async (t) => {
    const { program } = await furnished(t);
    await makeWorkspace(program, 'other', { serial: 1 });
    const one = textOf(await callTool(program, program.tokens.readonly, 'workspace_drift', { name: 'net' }));
    const all = textOf(await callTool(program, program.tokens.readonly, 'workspace_list'));
    const list = (JSON.parse(all) as { data: { name: string; drift: string }[] }).data;
    assert.equal(list.length, 2);
    assert.deepEqual((JSON.parse(one) as { data: unknown }).data, [list.find(({ name }) => name === 'net')]);
    assert.equal(
      outcomeOf(await callTool(program, program.tokens.readonly, 'workspace_drift', { name: 'nowhere' })),
      'not_found',
    );
  });

  test('answers at most 1 MiB, and a limit of 0 is no way around', async (t) => {
    const program = await startProgram(t);
    const labels = toJson({ text: 'ä'.repeat(2_000) });
    await putEvents(
      program.store,
      Array.from({ length: 400 }, (_each, i) => ({ fingerprint: `f${i}`, labels })),
    );
    const token = program.tokens.readonly;
    const all = await callTool(program, token, 'event_list', { limit: 0 });
    assert.equal(outcomeOf(all), 'invalid_argument');
    assert.match(textOf(all), /longer than 1048576 bytes.*Ask for fewer rows/);
    assert.equal(outcomeOf(await callTool(program, token, 'event_list', { limit: 100 })), 'event.list');
  });

  test('check_probe probes with the scope readonly', async (t) => {
    const up = await listen(t);
    const program = await startProgram(t, { prober: loopbackProber() });
    await addCheck(program, 'tcp', `a=127.0.0.1:${up.port}`);
    const answer = await callTool(program, program.tokens.readonly, 'check_probe', { name: 'web' });
    assert.match(textOf(answer), /"target":"a","up":true/);
  });

  test('T07: check_probe ends when its token is revoked', async (t) => {
    const asked = Promise.withResolvers<void>();
    const silent = await listenHttp(t, () => asked.resolve());
    const program = await startProgram(t, { prober: loopbackProber(), limits: { revalidateMs: 20 } });
    await addCheck(program, 'http', `a=http://127.0.0.1:${silent.port}/`);
    const token = await program.token('readonly');
    const answer = callTool(program, token, 'check_probe', { name: 'web' });
    await asked.promise;
    await program.revoke(token);
    assert.equal(outcomeOf(await answer), 'unauthenticated');
  });
});

describe('A tool that writes', () => {
  test('takes the same fields as the API, and names the one that is wrong', async (t) => {
    const { program } = await furnished(t);
    const token = program.tokens.operator;
    const add = { name: 'branch', prefixes: '192.0.2.0/24' };
    const refused: readonly (readonly [string, object, RegExp])[] = [
      ['netgroup_add', { ...add, name: '../etc' }, /^name: /],
      ['netgroup_add', { ...add, nothing: 1 }, /^"nothing": no such field here/],
      ['netgroup_add', { name: 'branch' }, /^prefixes: this field is required/],
      ['netgroup_add', { ...add, idempotency_key: 7 }, /^idempotency_key: expected text/],
      ['netgroup_add', { ...add, idempotency_key: '' }, /1 to 255 printable/],
      ['netgroup_list', { idempotency_key: 'k' }, /^"idempotency_key": no such field here/],
      ['health_get', { ledger_head: 'x' }, /^"ledger_head": no such field here/],
    ];
    for (const [name, given, message] of refused) {
      const answer = await callTool(program, token, name, { ...given });
      assert.equal(outcomeOf(answer), 'invalid_argument');
      assert.match((answer.structuredContent as { error: { message: string } }).error.message, message);
    }
    assert.equal(outcomeOf(await callTool(program, token, 'netgroup_add', add)), 'netgroup.get');
    const removed = await callTool(program, token, 'netgroup_remove', { name: 'branch' });
    assert.deepEqual([removed.content, removed.structuredContent, removed.isError], [[], undefined, undefined]);
  });

  test('answers a repeated key as it first did, and shares the keys of jobs with the API', async (t) => {
    const program = await startProgram(t);
    await makeWorkspace(program, 'net', { serial: 3 });
    const given = { name: 'net', idempotency_key: 'plan-1' };
    const [first, again] = [
      textOf(await callTool(program, program.tokens.operator, 'workspace_plan', given)),
      textOf(await callTool(program, program.tokens.operator, 'workspace_plan', given, 'modern')),
    ];
    assert.equal(again, first);
    const response = await fetch(`${program.url}/api/v1/workspaces/net/plan`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.tokens.operator}`, 'idempotency-key': 'plan-1' },
    });
    assert.equal(await response.text(), first);
  });

  test('T47: is recorded under the token of the caller, with the face mcp', async (t) => {
    const program = await startProgram(t);
    const token = await program.token('operator', { name: 'agent-7' });
    await callTool(program, token, 'netgroup_add', { name: 'branch', prefixes: '192.0.2.0/24' });
    const rows = (await auditOf(program.store, 'branch')).map(({ operation, principal, via }) => [
      operation,
      principal,
      via,
    ]);
    assert.deepEqual(rows, [['netgroup.add', 'agent-7', 'mcp']]);
    await makeWorkspace(program, 'net', { serial: 3 });
    const answer = await callTool(program, token, 'workspace_plan', { name: 'net' });
    const { job_id: job } = (answer.structuredContent as { data: { job_id: string } }).data;
    const { trigger, requested_by: by } = await getJob(program.store.db, job);
    assert.deepEqual([trigger, by], ['mcp', 'agent-7']);
  });
});

describe('A decision', () => {
  for (const [tool, state] of [
    ['approval_approve', 'approved'],
    ['approval_reject', 'rejected'],
  ] as const) {
    test(`${tool} decides once, for the scope approve`, async (t) => {
      const program = await startProgram(t);
      const { apr } = await gated(program);
      const given = { id: apr, reason: 'read it twice' };
      const hidden = await rpc(program, program.tokens.operator, 'tools/call', { name: tool, arguments: given });
      assert.equal(hidden.error?.code, -32_602);
      assert.equal((await getApproval(program.store.db, apr)).state, 'pending');
      const answer = await callTool(program, program.tokens.approve, tool, given);
      assert.equal(outcomeOf(answer), 'approval.decision');
      const { data } = answer.structuredContent as { data: Record<string, unknown> };
      assert.deepEqual([data['state'], data['decided_via'], data['reason']], [state, 'mcp', 'read it twice']);
      assert.equal(outcomeOf(await callTool(program, program.tokens.approve, tool, given)), 'conflict');
      assert.ok(!JSON.stringify(answer).includes('/approval/'));
    });

    test(`T28: ${tool} is refused to the owner of the request, and recorded`, async (t) => {
      const program = await startProgram(t);
      const { apr } = await gated(program, { requestedBy: 'agent', owners: ['mia'] });
      const own = await program.token('approve', { name: 'agent-2', owner: 'mia' });
      assert.equal(outcomeOf(await callTool(program, own, tool, { id: apr })), 'forbidden');
      assert.equal((await getApproval(program.store.db, apr)).state, 'pending');
      assert.ok(
        (await auditOf(program.store, apr)).some(({ principal, via }) => principal === 'agent-2' && via === 'mcp'),
      );
      assert.equal(outcomeOf(await callTool(program, program.tokens.approve, tool, { id: apr })), 'approval.decision');
    });
  }

  test('the field decision is no argument: a tool decides only what its name says', async (t) => {
    const program = await startProgram(t);
    const { apr } = await gated(program);
    const given = { id: apr, decision: 'approve' };
    assert.equal(
      outcomeOf(await callTool(program, program.tokens.approve, 'approval_reject', given)),
      'invalid_argument',
    );
    assert.equal((await getApproval(program.store.db, apr)).state, 'pending');
  });
});
