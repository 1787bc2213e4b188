import assert from 'node:assert/strict';
import { insertSource, type NewSource } from '../../../src/store/sources/sources.ts';
import { type Scenario, send } from '../../support/scenario.ts';
import type { Program } from '../../support/program.ts';

const path = '/api/v1/playbooks/run';
const body = { playbook: 'site.yml', source: 'ops', inventory: 'localhost' };
const OPS: NewSource = {
  name: 'ops',
  kind: 'dir',
  location: '/srv/ops',
  ref: null,
  commit_id: null,
  synced_at: null,
  created_at: 1,
  plugins: 0,
  dir_kept: null,
};

const withSource = async ({ store }: Program): Promise<Record<string, string>> => {
  await store.write((tx) => insertSource(tx, OPS));
  return {};
};

const nothingQueued = async (program: Program): Promise<void> => {
  const jobs = await send(program, 'operator', { method: 'GET', path: '/api/v1/jobs' });
  assert.match(jobs.text, /"data":\[\]/);
};

/** Fields that are refused, and how the message begins. */
const REFUSED: readonly (readonly [what: string, raw: object, message: RegExp])[] = [
  ['T14: a playbook that looks like an option', { playbook: '--syntax-check' }, /^playbook: expected the path/],
  ['T24: a path that leads out', { playbook: '../site.yml' }, /^playbook: expected the path/],
  ['T24: an absolute path', { playbook: '/etc/passwd' }, /^playbook: expected the path/],
  ['T24: a backslash', { playbook: 'plays\\..\\site.yml' }, /^playbook: expected the path/],
  ['T14: tags that look like options', { tags: ['-vvv'] }, /^tags: expected tags/],
  ['a tag with a comma', { tags: ['a,b'] }, /^tags: expected tags/],
  ['a text of tags with a blank', { skip_tags: 'a, b' }, /^skip_tags: expected tags/],
  ['T14: a limit that looks like an option', { limit: '--vault-password-file=/etc/shadow' }, /^limit: /],
  ['a limit that is a pattern', { limit: 'web*' }, /^limit: .* is a pattern/],
  ['a limit that names no host', { limit: 'db9' }, /^limit: host "db9" is not in inventory "localhost"/],
  ['T15: variables that name a file', { extra_vars: '@/etc/hostname' }, /^extra_vars: expected an object/],
  ['T15: a list of variables', { extra_vars: [] }, /^extra_vars: expected an object/],
  [
    'T15: a variable that starts programs here',
    { extra_vars: { ansible_ssh_common_args: '-o ProxyCommand=touch X' } },
    /^extra_vars: "ansible_ssh_common_args": variables that begin with ansible_/,
  ],
  ['a variable that Ansible sets', { extra_vars: { hostvars: {} } }, /^extra_vars: "hostvars": Ansible sets it/],
  ['a variable that is no name', { extra_vars: { 'a b': 1 } }, /^extra_vars: "a b": expected a name of/],
  ['T16: a value that Ansible would decode', { extra_vars: { a: [{ __ansible_vault: 'x' }] } }, /^extra_vars: "a": /],
  ['more variables than are accepted', { extra_vars: { a: 'x'.repeat(65_536) } }, /^extra_vars: expected at most/],
  ['T35: port 0', { egress_ports: [0] }, /^egress_ports\.0: expected 1 to 65535/],
  ['T35: port 65536', { egress_ports: [65_536] }, /^egress_ports\.0: expected 1 to 65535/],
  ['T35: a port that is a text', { egress_ports: ['22'] }, /^egress_ports\.0: expected a port/],
  ['T35: many ports', { egress_ports: Array.from({ length: 1_000 }, (_, i) => i + 1) }, /^egress_ports: .* 64 ports/],
  ['T18: a secret that would steer a program', { run_secrets: { LD_PRELOAD: 'a/b' } }, /^run_secrets\.LD_PRELOAD: /],
  ['T18: a secret that would steer Ansible', { run_secrets: { ANSIBLE_CONFIG: 'a/b' } }, /^run_secrets\./],
  ['a vault project without secrets', { vault_project: 'prod' }, /^vault_project: project prod has no secrets/],
  ['no source', { source: undefined }, /^source: expected the name of a source/],
  ['a directory of the machine', { dir: '/srv' }, /^"dir": no such field here/],
  ['T34: a run outside the sandbox', { privileged: true }, /^"privileged": no such field here/],
  ['a time-out that is no duration', { timeout: 'soon' }, /^timeout: /],
];

export const PLAYBOOK_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'playbook.run',
    rule: 'queues a job with every field, and answers before it runs',
    as: 'operator',
    given: withSource,
    send: {
      method: 'POST',
      path,
      body: {
        ...body,
        limit: 'localhost',
        tags: 'config,packages',
        skip_tags: ['slow'],
        check: true,
        diff: true,
        extra_vars: { canary: 'canary-of-a-variable', list: [1, 'x', { y: null }] },
        tolerate_unreachable: true,
        timeout: '10m',
        egress_ports: [8443, 443, 443],
        summary: 'updates the site',
      },
    },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    expectNot: ['canary'],
    async afterwards(program) {
      const row = await program.store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
      const { kind, runbook, source, concurrency_key: key, timeout_ms: timeoutMs } = row;
      assert.deepEqual(
        [kind, runbook, source, key, timeoutMs],
        ['playbook', 'playbook:site.yml', 'ops', 'playbook:localhost', 600_000],
      );
      const spec = JSON.parse(row.spec) as Record<string, unknown>;
      assert.deepEqual([spec['tags'], spec['skipTags']], [['config', 'packages'], ['slow']]);
      assert.deepEqual(spec['egressPorts'], [443, 8443], 'T35');
      assert.equal(program.wakes(), 1);
      const shown = await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${row.id}` });
      assert.doesNotMatch(shown.text, /canary/, 'variables are in no answer');
    },
  },
  {
    operation: 'playbook.run',
    rule: 'leaves the concurrency key out of a parallel run',
    as: 'operator',
    given: withSource,
    send: { method: 'POST', path, body: { ...body, parallel: true } },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    async afterwards({ store }) {
      const { concurrency_key: key } = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
      assert.equal(key, null);
    },
  },
  ...REFUSED.map(([what, raw, message]): Scenario => ({
    operation: 'playbook.run',
    rule: `refuses ${what}`,
    as: 'operator',
    given: withSource,
    send: { method: 'POST', path, body: { ...body, ...raw } },
    expect: { status: 400, code: 'invalid_argument', message },
    afterwards: nothingQueued,
  })),
  {
    operation: 'playbook.run',
    rule: 'T25: is 501 for a source that declares lifecycle hooks, and makes no job',
    async given(program) {
      Object.assign(program.services.sources, {
        treeOf: () => Promise.resolve({ path: '/srv/ops', named: null }),
        hooksFile: () => Promise.resolve('gatehouse.hooks.yaml'),
      });
      return withSource(program);
    },
    as: 'operator',
    send: { method: 'POST', path, body },
    expect: { status: 501, code: 'not_implemented', message: /ops.*gatehouse\.hooks\.yaml/ },
    expectNot: ['/srv/ops'],
    afterwards: nothingQueued,
  },
  {
    operation: 'playbook.run',
    rule: 'T24: refuses a playbook that is not in the source',
    async given(program) {
      Object.assign(program.services.sources, {
        treeOf: () => Promise.resolve({ path: '/srv/ops', named: null }),
        hasFile: () => Promise.resolve(false),
      });
      return withSource(program);
    },
    as: 'operator',
    send: { method: 'POST', path, body },
    expect: { status: 400, code: 'invalid_argument', message: /^playbook: there is no file "site\.yml" in ops/ },
    expectNot: ['/srv/ops'],
    afterwards: nothingQueued,
  },
  {
    operation: 'playbook.run',
    rule: 'is 404 for an unknown source',
    as: 'operator',
    send: { method: 'POST', path, body },
    expect: { status: 404, code: 'not_found' },
    afterwards: nothingQueued,
  },
  {
    operation: 'playbook.run',
    rule: 'is 404 for an unknown inventory',
    as: 'operator',
    given: withSource,
    send: { method: 'POST', path, body: { ...body, inventory: 'prod' } },
    expect: { status: 404, code: 'not_found' },
    afterwards: nothingQueued,
  },
];
