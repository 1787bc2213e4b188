/** Playbooks run by a real daemon with the real ansible-playbook. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readHosts, findRunTasks } from '../../../src/store/playbooks/results.ts';
import { writeTree } from '../../support/ansible/bare-run.ts';
import { jobIdPart } from '../../../src/domain/path-part.ts';
import { findRunDir } from '../../../src/runners/run-dir.ts';
import { until } from '../../support/api-client.ts';
import { runsDirFor } from '../../support/daemon.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const DONE = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted'];
const NEEDS = { skip: needs('ansible-playbook') };

async function addSource(fixture: Fixture, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = join(fixture.dir, 'ops');
  mkdirSync(dir, { recursive: true });
  writeTree(dir, files);
  await fixture.call('source.add', { name: 'ops', dir });
  return dir;
}

async function logOf(fixture: Fixture, id: string): Promise<string> {
  const events = await fixture.events(id);
  return events.flatMap((event) => (event.type === 'log' ? [`${event.stream}: ${event.text}`] : [])).join('\n');
}

const SITE = `
- name: Site
  hosts: all
  gather_facts: false
  tasks:
    - name: first
      debug: msg={{ color }}
      tags: [paint]
    - name: waits for its file
      wait_for: { path: "{{ playbook_dir }}/../../gate", timeout: 120 }
      when: wait is defined
    - name: vaulted
      debug: { msg: "{{ db_password }} {{ lookup('env', 'API_TOKEN') }}" }
      when: db_password is defined
`;

test(
  'A playbook of a source runs with its fields; progress, hosts and tasks are kept, secrets are not',
  NEEDS,
  async (t) => {
    const fixture = await openFixture(t);
    await addSource(fixture, { 'plays/site.yml': SITE });
    await fixture.call('secret.set', { secret: 'prod/db-password', value: 'vault-canary-12345' });
    await fixture.call('secret.set', { secret: 'ops/token', value: 'token-canary-12345' });
    await fixture.start();
    const { job_id: id } = await fixture.call<{ job_id: string }>('playbook.run', {
      playbook: 'plays/site.yml',
      source: 'ops',
      inventory: 'localhost',
      limit: 'localhost',
      extra_vars: { color: "blue {{ lookup('pipe', 'id') }}" },
      vault_project: 'prod',
      run_secrets: { API_TOKEN: 'ops/token' },
    });
    const job = await fixture.waitFor(id, DONE, 120_000);
    const log = await logOf(fixture, id);
    assert.deepEqual(
      [job.state, job.exit_code, job.runbook, job.concurrency_key, job.source],
      ['succeeded', 0, 'playbook:plays/site.yml', 'playbook:localhost', 'ops'],
      log,
    );
    assert.match(log, /"msg": "blue \{\{ lookup\('pipe', 'id'\) \}\}"/, 'T16');
    assert.match(log, /"msg": "\[redacted · secret\] \[redacted · secret\]"/, 'T55');
    assert.doesNotMatch(JSON.stringify([log, job.progress]), /canary/);
    assert.deepEqual(JSON.parse(job.progress ?? 'null'), { play: 'Site', task: 'vaulted' });
    const { progress } = await fixture.call<{ progress?: { elapsed_seconds: number } }>('job.get', { id });
    assert.equal(typeof progress?.elapsed_seconds, 'number');
    const run = (await findRunTasks(fixture.store.db, id)) ?? assert.fail('no results');
    assert.deepEqual(
      [run.hosts, run.hosts_cut, run.tasks.map(({ task }) => task)],
      [1, 0, ['first', 'waits for its file', 'vaulted']],
    );
    for await (const [host] of readHosts(fixture.store.db, id))
      assert.deepEqual([host?.host, host?.cells], ['localhost', 'oso']);
    assert.deepEqual(fixture.leftRuns(), []);
  },
);

test(
  'Progress is seen while the playbook runs; two playbooks on one inventory run one after the other',
  NEEDS,
  async (t) => {
    const fixture = await openFixture(t);
    await addSource(fixture, {
      'plays/site.yml': `
- name: Slow
  hosts: all
  gather_facts: false
  tasks:
    - name: sleeps
      command: sleep 600
`,
    });
    await fixture.start();
    const order = { playbook: 'plays/site.yml', source: 'ops', inventory: 'localhost' };
    const [first, second] = [
      await fixture.call<{ job_id: string }>('playbook.run', order),
      await fixture.call<{ job_id: string }>('playbook.run', order),
    ];
    await until(
      'the task is seen',
      async () => {
        const row = await fixture.row(first.job_id);
        return row.progress?.includes('sleeps') === true ? true : undefined;
      },
      60_000,
    );
    assert.equal((await fixture.row(second.job_id)).state, 'queued');
    await fixture.call('job.cancel', { id: second.job_id });
    await fixture.call('job.cancel', { id: first.job_id });
    const job = await fixture.waitFor(first.job_id, DONE, 60_000);
    assert.equal(job.state, 'cancelled', 'F12');
    assert.deepEqual(fixture.leftRuns(), []);
  },
);

test('T25, T24: a source with hooks and a missing playbook are refused before anything is queued', async (t) => {
  const fixture = await openFixture(t);
  const dir = await addSource(fixture, { 'site.yml': SITE });
  const order = { playbook: 'site.yml', source: 'ops', inventory: 'localhost' };
  const code = (raw: object): Promise<string> =>
    fixture.call('playbook.run', { ...order, ...raw }).then(
      () => 'queued',
      (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
    );
  assert.match(
    await code({ playbook: 'other.yml' }),
    /^invalid_argument: playbook: there is no file "other.yml" in ops/,
  );
  assert.match(await code({ source: 'nothing' }), /^not_found/);
  assert.match(await code({ inventory: 'nothing' }), /^not_found/);
  assert.match(await code({ limit: 'db9' }), /^invalid_argument: limit: host "db9" is not in inventory/);
  assert.match(
    await code({ vault_project: 'nothing' }),
    /^invalid_argument: vault_project: project nothing has no secrets/,
  );
  assert.match(await code({ run_secrets: { A: 'no/secret' } }), /^not_found/);
  writeFileSync(join(dir, 'gatehouse.hooks.yaml'), 'before: [true]\n');
  assert.match(await code({}), /^not_implemented: Source ops declares lifecycle hooks/);
  assert.deepEqual(await fixture.store.db.selectFrom('jobs').select('id').execute(), []);
});

test('T20: after a kill of the daemon no secret of a run is left on the disk', NEEDS, async (t) => {
  const fixture = await openFixture(t);
  await addSource(fixture, {
    'site.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: sleeps\n      command: sleep 600\n',
  });
  await fixture.call('secret.set', { secret: 'prod/db-password', value: 'vault-canary-12345' });
  const daemon = await fixture.start();
  const { job_id: id } = await fixture.call<{ job_id: string }>('playbook.run', {
    playbook: 'site.yml',
    source: 'ops',
    inventory: 'localhost',
    vault_project: 'prod',
  });
  const seen = async (): Promise<true | undefined> =>
    (await fixture.row(id)).progress?.includes('sleeps') === true ? true : undefined;
  await until('the task is seen', seen, 60_000);
  const inputs = `${findRunDir(runsDirFor(join(fixture.dir, 'data')), jobIdPart(id))}.in`;
  const secretFiles = (): string[] =>
    existsSync(inputs) ? readdirSync(inputs).filter((name) => name.startsWith('vault')) : [];
  assert.deepEqual(secretFiles().toSorted(), ['vault-0', 'vault-vars.yml']);
  await daemon.kill();
  await until('they are removed', async () => (secretFiles().length === 0 ? Promise.resolve(true) : undefined), 60_000);
  await fixture.start();
  const job = await fixture.waitFor(id, DONE, 60_000);
  assert.deepEqual([job.state, JSON.parse(job.progress ?? 'null')], ['interrupted', { play: 'all', task: 'sleeps' }]);
});
