/** Changing and removing a workspace by the command line, and who wins when several ask at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { keepState } from '../../../src/store/workspaces/states.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type Ending, type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { send } from '../../support/scenario.ts';
import { audited, callLocally, jobsOf, LINEAGE, makePlan, makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { call, directory, addSource, start } from '../../support/fixtures/workspace-commands.ts';

describe('Changing a workspace', () => {
  test('A field that is not given stays, and an empty expression clears', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net', {
      serial: 4,
      path: '/srv/net',
      approve_when: 'true',
      deny_when: 'false',
      require_saved_plan: 1,
    });
    const before = await call(program, 'get', { name: 'net' });
    assert.deepEqual(await call(program, 'update', { name: 'net' }), before);
    const after = await call(program, 'update', { name: 'net', approve_when: '', protect_destroy: true });
    assert.deepEqual(after, { ...before, policy: { ...before.policy, approve_when: null, protect_destroy: true } });
    assert.deepEqual(await audited(program), {
      operation: 'workspace.update',
      target: 'net',
      detail: { changed: ['approve_when', 'protect_destroy'] },
    });
  });

  test('A switch is turned off by its opposite, and not by both at once', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net', { require_saved_plan: 1, protect_destroy: 1 });
    const { policy } = await call(program, 'update', {
      name: 'net',
      no_require_saved_plan: true,
      no_protect_destroy: true,
    });
    assert.deepEqual([policy.require_saved_plan, policy.protect_destroy], [false, false]);
    await assert.rejects(
      call(program, 'update', { name: 'net', protect_destroy: true, no_protect_destroy: true }),
      refusal('invalid_argument', /^protect_destroy, /),
    );
  });

  test('A new source or directory replaces the place; a path alone moves within the source', async (t) => {
    const program = await start(t);
    await addSource(program);
    const dir = directory(program, 'net');
    await makeWorkspace(program, 'net', { source: 'infra', path: 'a' });
    assert.equal((await call(program, 'update', { name: 'net', path: 'b' })).path, 'b');
    const moved = await call(program, 'update', { name: 'net', dir });
    assert.deepEqual([moved.source, moved.path], [null, dir]);
    await assert.rejects(call(program, 'update', { name: 'net', path: 'c' }), refusal('invalid_argument', /source/));
    const back = await call(program, 'update', { name: 'net', source: 'infra' });
    assert.deepEqual([back.source, back.path], ['infra', '']);
  });

  test('A workspace that does not exist can be neither changed, shown nor removed', async (t) => {
    const program = await start(t);
    for (const verb of ['get', 'update', 'remove', 'state', 'drift']) {
      await assert.rejects(call(program, verb, { name: 'net' }), refusal('not_found', /workspace net/), verb);
    }
  });
});

describe('Removing a workspace', () => {
  test('A job that has not ended prevents its removal', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net');
    const { json } = await send(program, 'operator', { method: 'POST', path: '/api/v1/workspaces/net/plan' });
    const id = (json as { data: { job_id: string } }).data.job_id;
    await assert.rejects(
      call(program, 'remove', { name: 'net', force: true }),
      refusal('conflict', new RegExp(`plan job ${id} .* queued`)),
    );
    await send(program, 'operator', { method: 'POST', path: `/api/v1/jobs/${id}/cancel` });
    assert.equal((await call(program, 'remove', { name: 'net' })).name, 'net');
    assert.equal((await jobsOf(program)).length, 1);
  });

  test('A state with resources prevents its removal, unless it is forced', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net');
    const keep = (resources: number, aside = false) =>
      program.store.write((tx) =>
        keepState(tx, {
          workspace: 'net',
          serial: 1,
          lineage: LINEAGE,
          resources,
          jobId: null,
          keyId: 'k',
          aside,
          seal: () => Buffer.from('x'),
        }),
      );
    await keep(7);
    await assert.rejects(call(program, 'remove', { name: 'net' }), refusal('conflict', /7 resources.*--force/));
    await keep(0);
    await keep(2, true);
    await assert.rejects(call(program, 'remove', { name: 'net' }), refusal('conflict', /set aside.*2 resources/));
    const versions = await callLocally<Projected<'workspace.state'>>(program, 'workspace.state', { name: 'net' });
    assert.deepEqual(
      versions.map(({ version, resources }) => [version, resources]),
      [
        [2, 0],
        [1, 7],
        [-1, 2],
      ],
    );
    await call(program, 'remove', { name: 'net', force: true });
    assert.deepEqual(await program.store.db.selectFrom('states').select('version').execute(), []);
    await assert.rejects(call(program, 'get', { name: 'net' }), refusal('not_found', /net/));
  });
});

test('A drift run is queued like the others, and verbs of the command line only have no route', async (t) => {
  const program = await start(t);
  await makeWorkspace(program, 'net');
  await call(program, 'drift', { name: 'net' });
  assert.partialDeepStrictEqual((await jobsOf(program))[0], {
    kind: 'drift',
    runbook: 'drift:net',
    trigger: 'cli',
    concurrency_key: 'workspace:net',
  });
  const routed = OPERATIONS.filter(({ id, http }) => id.startsWith('workspace.') && 'path' in http).map(({ id }) => id);
  assert.deepEqual(routed, [
    'workspace.list',
    'workspace.plan',
    'workspace.apply',
    'workspace.destroy',
    'workspace.drift',
  ]);
});

async function applyAtOnce(
  programs: readonly Program[],
  plan: string,
  count: number,
): Promise<{ status: number; text: string }[]> {
  const sending = { method: 'POST', path: '/api/v1/workspaces/net/apply', body: { plan } } as const;
  return Promise.all(
    Array.from({ length: count }, (_each, i) => send(programs[i % programs.length]!, 'operator', sending)),
  );
}

/** Two daemons on one store that has a workspace. */
async function startTwo(t: Ending, postgres: boolean): Promise<[Program, Program]> {
  const first = await startProgram(t, { postgres });
  const second = await startProgram(t, { beside: first });
  await makeWorkspace(first, 'net', { serial: 3 });
  return [first, second];
}

for (const postgres of [false, true]) {
  describe(postgres ? 'Applies at once on PostgreSQL' : 'Applies at once on SQLite', () => {
    test('T31: Of twenty applies of one plan over two daemons one is queued, and the others name it', async (t) => {
      const programs = await startTwo(t, postgres);
      const answers = await applyAtOnce(programs, await makePlan(programs[0], 'net', 'clean'), 20);
      const won = answers.filter(({ status }) => status === 202);
      assert.equal(won.length, 1, JSON.stringify(answers));
      const id = /job_[0-9a-z]{26}/.exec(won[0]!.text)![0];
      for (const { text } of answers.filter((each) => each !== won[0]))
        assert.match(text, new RegExp(`"code":"concurrency_held".*${id}`));
      assert.equal((await jobsOf(programs[0])).length, 1);
    });

    test('Of twenty applies of one plan that needs approval one asks, and the others name its approval', async (t) => {
      const programs = await startTwo(t, postgres);
      const answers = await applyAtOnce(programs, await makePlan(programs[0], 'net', 'require_approval'), 20);
      const won = answers.filter(({ status }) => status === 202);
      assert.equal(won.length, 1, JSON.stringify(answers));
      const id = /apr_[0-9a-z]{26}/.exec(won[0]!.text)![0];
      for (const { text } of answers.filter((each) => each !== won[0]))
        assert.match(text, new RegExp(`"code":"conflict".*${id}`));
      assert.equal((await jobsOf(programs[0])).length, 1);
    });

    test('T26: One idempotency key makes one apply, and a repeat is answered as the first was', async (t) => {
      const [program] = await startTwo(t, postgres);
      const plan = await makePlan(program, 'net', 'require_approval');
      const sending = {
        method: 'POST',
        path: '/api/v1/workspaces/net/apply',
        body: { plan },
        headers: { 'idempotency-key': 'once' },
      } as const;
      const first = await send(program, 'operator', sending);
      assert.equal(first.status, 202);
      const again = await send(program, 'operator', sending);
      assert.deepEqual([again.status, again.text], [202, first.text]);
      const other = await send(program, 'operator', { ...sending, path: '/api/v1/workspaces/net/destroy', body: {} });
      assert.deepEqual([other.status, other.text], [202, first.text]);
      assert.equal((await jobsOf(program)).length, 1);
    });
  });
}
