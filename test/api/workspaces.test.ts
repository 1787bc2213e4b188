/** What the command line asks of workspaces, and who wins when several ask at once. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { createSourceFetcher } from '../../src/app/sources.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { insertSource } from '../../src/store/sources.ts';
import { keepState } from '../../src/store/states.ts';
import type { Projected } from '../../src/operations/views.ts';
import { type Ending, type Program, startProgram } from '../support/program.ts';
import { refusal } from '../support/refusal.ts';
import { send } from '../support/scenario.ts';
import { audited, callLocally, jobsOf, LINEAGE, makePlan, makeWorkspace } from '../support/workspace-maker.ts';

type Workspace = Projected<'workspace.get'>;


const call = (program: Program, verb: string, raw: object): Promise<Workspace> => callLocally<Workspace>(program, `workspace.${verb}`, raw);

/** A directory beside the store. */
function directory(program: Program, name: string): string {
  const path = join(dirname(program.storeFile ?? ''), name);
  mkdirSync(path, { recursive: true });
  return path;
}

async function addSource(program: Program): Promise<void> {
  const row = { name: 'infra', kind: 'dir', location: '/srv/infra', ref: null, commit_id: null, synced_at: null, created_at: 1 } as const;
  await program.store.write((tx) => insertSource(tx, row));
}

/** A program that looks at directories as the real one does; its data directory is `data` beside the store. */
async function start(t: Ending): Promise<Program> {
  const program = await startProgram(t);
  Object.assign(program.services, { sources: createSourceFetcher(join(directory(program, 'data'), 'sources'), () => assert.fail('no git source is fetched here')) });
  return program;
}

describe('Adding a workspace', () => {
  test('A directory is kept as an absolute path, however it was named', async (t) => {
    const program = await start(t);
    const root = directory(program, 'net');
    const added = await call(program, 'add', { name: 'net', dir: relative(process.cwd(), root), protect_destroy: true });
    assert.deepEqual(added, {
      name: 'net',
      source: null,
      path: root,
      serial: null,
      drift: 'unknown',
      drift_checked_at: null,
      last_plan_job_id: null,
      last_apply_job_id: null,
      locked_by: null,
      policy: { approve_when: null, deny_when: null, require_saved_plan: false, protect_destroy: true },
    });
    assert.deepEqual(await call(program, 'get', { name: 'net' }), added);
    assert.deepEqual(await audited(program), { operation: 'workspace.add', target: 'net', detail: { source: null, require_saved_plan: false, protect_destroy: true } });
  });

  test('What is no directory is refused by its name', async (t) => {
    const program = await start(t);
    const file = join(directory(program, 'net'), 'main.tf');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below'), '/nowhere/at/all', '', `/tmp/a\nb`, `/${'x'.repeat(5_000)}`]) {
      await assert.rejects(call(program, 'add', { name: 'net', dir }), refusal('invalid_argument', /^dir: /), dir);
    }
  });

  test('T24: No run gets a copy of the data directory, of what is in it or of what holds it', async (t) => {
    const program = await start(t);
    const data = directory(program, 'data');
    symlinkSync(data, join(dirname(data), 'innocent'));
    for (const dir of [data, directory(program, 'data/sources'), dirname(data), '/', join(dirname(data), 'innocent')]) {
      await assert.rejects(call(program, 'add', { name: 'net', dir }), refusal('invalid_argument', /^dir: the data directory/), dir);
    }
  });

  test('Exactly one of a directory and a source says where it is, and a path goes with a source', async (t) => {
    const program = await start(t);
    await addSource(program);
    await assert.rejects(call(program, 'add', { name: 'net' }), refusal('invalid_argument', /^dir, source: /));
    await assert.rejects(call(program, 'add', { name: 'net', dir: '/tmp', source: 'infra' }), refusal('invalid_argument', /^dir, source: /));
    await assert.rejects(call(program, 'add', { name: 'net', dir: '/tmp', path: 'net' }), refusal('invalid_argument', /^path: /));
    await assert.rejects(call(program, 'add', { name: 'net', source: 'other' }), refusal('not_found', /source other/));
    const added = await call(program, 'add', { name: 'net', source: 'infra', path: 'roots/net' });
    assert.deepEqual([added.source, added.path], ['infra', 'roots/net']);
    assert.equal((await call(program, 'add', { name: 'all', source: 'infra' })).path, '');
  });

  test('T24: A path leads nowhere but below the root of its source', async (t) => {
    const program = await start(t);
    await addSource(program);
    for (const path of ['..', '../x', 'a/../..', '/etc', 'a//b', './a', 'a/', 'a\\..\\b', 'a\nb', '%2e%2e/x', '-chdir=/', '\u2025', 'x'.repeat(500)]) {
      await assert.rejects(call(program, 'add', { name: 'net', source: 'infra', path }), refusal('invalid_argument', /^path: /), path);
    }
  });

  test('T14 T31: A name that only looks like another one is no name, and one that is equal is taken', async (t) => {
    const program = await start(t);
    const dir = directory(program, 'net');
    await call(program, 'add', { name: 'net', dir });
    await assert.rejects(call(program, 'add', { name: 'net', dir }), refusal('duplicate', /^name: /));
    const near = ['Net', 'NET', 'net ', ' net', 'net\u200b', 'n\u0435t', 'ne\u0301t', 'net\n', 'net/', '-net', '-chdir=/', '.net', '..', '', 'net\0', 'workspace:net', 'x'.repeat(64)];
    for (const name of near) await assert.rejects(call(program, 'add', { name, dir }), refusal('invalid_argument', /^name: /), JSON.stringify(name));
    assert.equal((await program.store.db.selectFrom('workspaces').select('name').execute()).length, 1);
  });

  test('A policy is checked when it is set, and its field is named', async (t) => {
    const program = await start(t);
    const dir = directory(program, 'net');
    for (const text of ['size(plan.destroys', 'plan.destroy.size() > 1', '1 + 1', 'nobody']) {
      await assert.rejects(call(program, 'add', { name: 'net', dir, deny_when: text }), refusal('invalid_argument', /^deny_when: /), text);
      await assert.rejects(call(program, 'add', { name: 'net', dir, approve_when: text }), refusal('invalid_argument', /^approve_when: /), text);
    }
    const { policy } = await call(program, 'add', { name: 'net', dir, approve_when: 'size(plan.changes) > 3', deny_when: '' });
    assert.deepEqual([policy.approve_when, policy.deny_when], ['size(plan.changes) > 3', null]);
  });
});

describe('Changing a workspace', () => {
  test('What is not given stays, and an empty expression clears', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net', { serial: 4, path: '/srv/net', approve_when: 'true', deny_when: 'false', require_saved_plan: 1 });
    const before = await call(program, 'get', { name: 'net' });
    assert.deepEqual(await call(program, 'update', { name: 'net' }), before);
    const after = await call(program, 'update', { name: 'net', approve_when: '', protect_destroy: true });
    assert.deepEqual(after, { ...before, policy: { ...before.policy, approve_when: null, protect_destroy: true } });
    assert.deepEqual(await audited(program), { operation: 'workspace.update', target: 'net', detail: { changed: ['approve_when', 'protect_destroy'] } });
  });

  test('A switch is turned off by its opposite, and not by both at once', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net', { require_saved_plan: 1, protect_destroy: 1 });
    const { policy } = await call(program, 'update', { name: 'net', no_require_saved_plan: true, no_protect_destroy: true });
    assert.deepEqual([policy.require_saved_plan, policy.protect_destroy], [false, false]);
    await assert.rejects(call(program, 'update', { name: 'net', protect_destroy: true, no_protect_destroy: true }), refusal('invalid_argument', /^protect_destroy, /));
  });

  test('It moves to another place whole: a path alone moves within the source that it has', async (t) => {
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

  test('What there is not can be neither changed, shown nor removed', async (t) => {
    const program = await start(t);
    for (const verb of ['get', 'update', 'remove', 'state', 'drift']) {
      await assert.rejects(call(program, verb, { name: 'net' }), refusal('not_found', /workspace net/), verb);
    }
  });
});

describe('Removing a workspace', () => {
  test('A job that has not ended keeps it', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net');
    const { json } = await send(program, 'operator', { method: 'POST', path: '/api/v1/workspaces/net/plan' });
    const id = (json as { data: { job_id: string } }).data.job_id;
    await assert.rejects(call(program, 'remove', { name: 'net', force: true }), refusal('conflict', new RegExp(`plan job ${id} .* queued`)));
    await send(program, 'operator', { method: 'POST', path: `/api/v1/jobs/${id}/cancel` });
    assert.equal((await call(program, 'remove', { name: 'net' })).name, 'net');
    assert.equal((await jobsOf(program)).length, 1);
  });

  test('A state that holds resources keeps it, until it is forced', async (t) => {
    const program = await start(t);
    await makeWorkspace(program, 'net');
    const keep = (resources: number, aside = false) =>
      program.store.write((tx) =>
        keepState(tx, { workspace: 'net', serial: 1, lineage: LINEAGE, resources, jobId: null, keyId: 'k', aside, seal: () => Buffer.from('x') }),
      );
    await keep(7);
    await assert.rejects(call(program, 'remove', { name: 'net' }), refusal('conflict', /7 resources.*--force/));
    await keep(0);
    await keep(2, true);
    await assert.rejects(call(program, 'remove', { name: 'net' }), refusal('conflict', /set aside.*2 resources/));
    const versions = await callLocally<Projected<'workspace.state'>>(program, 'workspace.state', { name: 'net' });
    assert.deepEqual(versions.map(({ version, resources }) => [version, resources]), [[2, 0], [1, 7], [-1, 2]]);
    await call(program, 'remove', { name: 'net', force: true });
    assert.deepEqual(await program.store.db.selectFrom('states').select('version').execute(), []);
    await assert.rejects(call(program, 'get', { name: 'net' }), refusal('not_found', /net/));
  });
});

test('A drift run is queued like the others, and nothing of what only the command line asks has a route', async (t) => {
  const program = await start(t);
  await makeWorkspace(program, 'net');
  await call(program, 'drift', { name: 'net' });
  assert.partialDeepStrictEqual((await jobsOf(program))[0], { kind: 'drift', runbook: 'drift:net', trigger: 'cli', concurrency_key: 'workspace:net' });
  const routed = OPERATIONS.filter(({ id, http }) => id.startsWith('workspace.') && 'path' in http).map(({ id }) => id);
  assert.deepEqual(routed, ['workspace.list', 'workspace.plan', 'workspace.apply', 'workspace.destroy']);
});

async function applyAtOnce(programs: readonly Program[], plan: string, count: number): Promise<{ status: number; text: string }[]> {
  const sending = { method: 'POST', path: '/api/v1/workspaces/net/apply', body: { plan } } as const;
  return Promise.all(Array.from({ length: count }, (_each, i) => send(programs[i % programs.length]!, 'operator', sending)));
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
    test('T31: Of twenty applies of one clean plan, over two daemons, one is queued and the others are told who holds it', async (t) => {
      const programs = await startTwo(t, postgres);
      const answers = await applyAtOnce(programs, await makePlan(programs[0], 'net', 'clean'), 20);
      const won = answers.filter(({ status }) => status === 202);
      assert.equal(won.length, 1, JSON.stringify(answers));
      const id = /job_[0-9a-z]{26}/.exec(won[0]!.text)![0];
      for (const { text } of answers.filter((each) => each !== won[0])) assert.match(text, new RegExp(`"code":"concurrency_held".*${id}`));
      assert.equal((await jobsOf(programs[0])).length, 1);
    });

    test('Of twenty applies of one plan that needs approval one is asked about, and the others are told by which approval', async (t) => {
      const programs = await startTwo(t, postgres);
      const answers = await applyAtOnce(programs, await makePlan(programs[0], 'net', 'require_approval'), 20);
      const won = answers.filter(({ status }) => status === 202);
      assert.equal(won.length, 1, JSON.stringify(answers));
      const id = /apr_[0-9a-z]{26}/.exec(won[0]!.text)![0];
      for (const { text } of answers.filter((each) => each !== won[0])) assert.match(text, new RegExp(`"code":"conflict".*${id}`));
      assert.equal((await jobsOf(programs[0])).length, 1);
    });

    test('T26: One idempotency key makes one apply, and a repeat is answered as the first was', async (t) => {
      const [program] = await startTwo(t, postgres);
      const plan = await makePlan(program, 'net', 'require_approval');
      const sending = { method: 'POST', path: '/api/v1/workspaces/net/apply', body: { plan }, headers: { 'idempotency-key': 'once' } } as const;
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
