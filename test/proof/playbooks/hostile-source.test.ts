/** Sources that try to run code on this machine which no playbook asked for, and values that try to be more. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PlaybookRuns } from '../../support/ansible/playbook-run.ts';
import { needs } from '../../support/tools.ts';

const SKIP = { skip: needs('ansible-playbook') };

/** A plugin writes its mark to the log of the run as soon as Ansible imports it. */
const marked = (name: string): string => `import os\nos.write(2, b"MARK ${name}\\n")\n`;

const FILTER = (name: string, filters = '{}'): string =>
  `${marked(name)}class FilterModule:\n    def filters(self): return ${filters}\n`;

const CALLBACK = `${marked('callback')}
from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'sneaky'
`;

/** By folder, a file of the name that Ansible would load by itself. */
const PLUGINS: Readonly<Record<string, string>> = {
  'action_plugins/command.py': marked('action'),
  'become_plugins/sudo.py': marked('become'),
  'callback_plugins/sneaky.py': CALLBACK,
  'connection_plugins/sneaky.py': marked('connection'),
  'filter_plugins/sneaky.py': FILTER('filter'),
  'lookup_plugins/env.py': marked('lookup'),
  'shell_plugins/sneaky.py': marked('shell'),
  'strategy_plugins/linear.py': marked('strategy'),
  'test_plugins/sneaky.py': `${marked('test')}class TestModule:\n    def tests(self): return {}\n`,
  'vars_plugins/sneaky.py': `${marked('vars')}
from ansible.plugins.vars import BaseVarsPlugin
class VarsModule(BaseVarsPlugin):
    def get_vars(self, loader, path, entities): return {}
`,
  'roles/web/filter_plugins/inrole.py': FILTER('role filter'),
};

const CONFIG = `[defaults]
callback_plugins = ./callbacks
callbacks_enabled = sneaky
stdout_callback = sneaky
inventory = ./inventory.sh
vault_password_file = ./vault.sh
host_key_checking = False
`;

const SITE = `
- hosts: all
  gather_facts: false
  roles: [web]
  tasks:
    - name: says
      command: echo "{{ lookup('env', 'HOME') | default('') }}"
      when: inventory_hostname is defined
`;

const ROLE = { 'roles/web/tasks/main.yml': '- debug: msg=role\n' };

function marksIn(text: string): string[] {
  return [...new Set([...text.matchAll(/^stderr: MARK (.+)$/gm)].map(([, name = '']) => name))].toSorted();
}

describe('a hostile source', { ...SKIP, concurrency: 2 }, () => {
  it('T17: no plugin beside a playbook or in a role is loaded, and the log names what was left out', async () => {
    await using runs = new PlaybookRuns();
    const { outcome, text } = await runs.run({ 'site.yml': SITE, ...ROLE, ...PLUGINS });
    assert.deepEqual(marksIn(text), []);
    assert.equal(outcome.state, 'succeeded', text);
    assert.match(text, /system: Left out: action_plugins, .* vars_plugins and 1 more\..*--plugins/);
  });

  it('T17: the same plugins do run where the operator allowed them, so the test above tests something', async () => {
    await using runs = new PlaybookRuns();
    const { text } = await runs.run({ 'site.yml': SITE, ...ROLE, ...PLUGINS }, { materials: { plugins: true } });
    const unasked = ['callback', 'connection', 'shell', 'strategy', 'become'];
    assert.deepEqual(
      unasked.filter((name) => !marksIn(text).includes(name)),
      [],
      text,
    );
  });

  it('T17: neither ansible.cfg nor what it names is used, nor a dot file of the source', async () => {
    await using runs = new PlaybookRuns();
    const { outcome, text } = await runs.run({
      'site.yml': SITE,
      ...ROLE,
      'ansible.cfg': CONFIG,
      '.ansible.cfg': CONFIG,
      'callbacks/sneaky.py': CALLBACK,
      'inventory.sh': '#!/bin/sh\necho MARK inventory >&2\n',
      'vault.sh': '#!/bin/sh\necho MARK vault >&2\n',
      '.ansible/plugins/callback/sneaky.py': CALLBACK,
      'sitecustomize.py': marked('sitecustomize'),
      'usercustomize.py': marked('usercustomize'),
      'ansible.py': marked('module of python'),
    });
    assert.deepEqual(marksIn(text), []);
    assert.equal(outcome.state, 'succeeded', text);
    assert.match(text, /^system: Not used: ansible\.cfg\./m);
  });

  it('T17: a collection of the source is used where the playbook names it, and not otherwise', async () => {
    await using runs = new PlaybookRuns();
    const base = 'collections/ansible_collections/acme/tools';
    const collection = {
      [`${base}/galaxy.yml`]: 'namespace: acme\nname: tools\nversion: 1.0.0\n',
      [`${base}/plugins/callback/sneaky.py`]: CALLBACK,
      [`${base}/plugins/filter/shout.py`]: FILTER('filter', "{'shout': str.upper}"),
    };
    const quiet = await runs.run({ 'site.yml': SITE, ...ROLE, ...collection });
    assert.deepEqual(marksIn(quiet.text), []);
    const named = `- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: msg={{ 'loud' | acme.tools.shout }}\n`;
    const asked = await runs.run({ 'site.yml': named });
    assert.match(asked.text, /"msg": "LOUD"/);
    assert.deepEqual(marksIn(asked.text), ['filter']);
  });

  it('T16: a template in the value of a variable is text, also in a file, a nested value and a module', async () => {
    await using runs = new PlaybookRuns();
    const template = "{{ lookup('pipe', 'echo MARK pipe >&2; echo ran') }}{% raw %}\u00e4😀\u0085 \u007f\\\"'#";
    const { outcome, text } = await runs.run(
      {
        'site.yml': `
- hosts: all
  gather_facts: false
  tasks:
    - debug: var=value
    - debug: msg="{{ nested.list[0] }} {{ nested['k{{1}}'] }}"
    - assert: { that: [number == 5, big == 1e21, off == false, nothing == None, half == 0.5, "text == '1e5'"] }
    - copy: { content: "{{ value }}", dest: "{{ lookup('env', 'HOME') }}/v" }
    - command: cat {{ lookup('env', 'HOME') }}/v
      register: printed
    - debug: var=printed.stdout
    - assert: { that: printed.stdout == value }
`,
      },
      {
        spec: {
          extraVars: {
            value: template,
            nested: { list: [template], 'k{{1}}': template },
            number: 5,
            big: 1e21,
            half: 0.5,
            off: false,
            nothing: null,
            text: '1e5',
          },
        },
      },
    );
    assert.equal(outcome.state, 'succeeded', text);
    assert.deepEqual(marksIn(text), []);
    assert.match(text, /"value": "\{\{ lookup\('pipe'/);
  });

  it('T14: tags, hosts and a playbook that look like options are values', async () => {
    await using runs = new PlaybookRuns();
    const { text, outcome } = await runs.run(
      { '--version': SITE, ...ROLE },
      { spec: { playbook: '--version', tags: ['-vvv', '--syntax-check'], skipTags: ['--help'] } },
    );
    assert.equal(outcome.state, 'succeeded', text);
    assert.deepEqual([outcome.result?.recap.ended, outcome.result?.tasks], [true, []]);
    assert.doesNotMatch(text, /usage:|executable location|Using module file/);
  });

  it('T18: the run has its secrets in its environment, and nothing that the daemon was started with', async () => {
    const planted = [
      'ANSIBLE_CALLBACK_PLUGINS',
      'ANSIBLE_CONFIG',
      'ANSIBLE_STRATEGY_PLUGINS',
      'PYTHONPATH',
      'SSH_AUTH_SOCK',
    ];
    const before = planted.map((name) => process.env[name]);
    for (const name of planted) process.env[name] = '/canary/of/the/daemon';
    try {
      await using runs = new PlaybookRuns();
      const { outcome, text } = await runs.run(
        {
          'site.yml':
            '- hosts: all\n  gather_facts: false\n  tasks:\n' +
            '    - command: env\n      register: e\n    - debug: var=e.stdout_lines\n',
        },
        { secrets: new Map([['API_TOKEN', Buffer.from('hunter2-hunter2')]]) },
      );
      assert.equal(outcome.state, 'succeeded', text);
      assert.doesNotMatch(text, /canary/);
      assert.match(text, /API_TOKEN=\[redacted · secret\]/, 'T55');
      const names = [...text.matchAll(/"([A-Z][A-Z0-9_]*)=/g)].map(([, name = '']) => name);
      const known =
        /^(?:ANSIBLE_.*|API_TOKEN|HOME|LANG.*|LC_.*|LOGNAME|PATH|PWD|SVC_.*|TERM|TMPDIR|USER|XDG_CACHE_HOME)$/;
      assert.deepEqual(
        names.filter((name) => !known.test(name)),
        [],
      );
    } finally {
      for (const [n, name] of planted.entries()) {
        if (before[n] === undefined) delete process.env[name];
        else process.env[name] = before[n];
      }
    }
  });

  it('T23, T24: a playbook behind a link that leads out, a missing one and a folder are refused', async () => {
    await using runs = new PlaybookRuns();
    const missing = await runs.run({ 'other.yml': SITE, 'folder/x.yml': SITE }, {});
    assert.match(missing.text, /There is no playbook site.yml in these files/);
    assert.match((await runs.run({}, { spec: { playbook: 'folder' } })).text, /There is no playbook folder/);
    symlinkSync('/etc/passwd', join(runs.tree, 'site.yml'));
    const { outcome, text } = await runs.run({});
    assert.deepEqual([outcome.state, outcome.exitCode], ['failed', null]);
    assert.match(text, /"site.yml" is a symbolic link that leads out of the tree/);
  });

  it('T25: a source that declares hooks is refused in the run too, and nothing of it runs', async () => {
    await using runs = new PlaybookRuns();
    const files = { 'site.yml': SITE, ...ROLE, 'Gatehouse.Hooks.YAML': 'before: [echo, MARK hook]\n' };
    const { outcome, text } = await runs.run(files);
    assert.deepEqual([outcome.state, outcome.exitCode, marksIn(text)], ['failed', null, []]);
    assert.match(text, /declares lifecycle hooks \(Gatehouse.Hooks.YAML\)/);
  });
});
