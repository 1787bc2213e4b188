import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SAME_FILES } from '../../../test/support/inventories/files.ts';
import { Failure } from '../failure.ts';
import { groupsOfHosts } from './connection.ts';
import { INVENTORY_LIMITS } from './inventory.ts';
import { readModel, writeModel } from './model-json.ts';
import { type InventoryFormat, readInventory } from './read.ts';
import { renderInventory } from './render.ts';

async function refused(text: string, message: RegExp, format?: InventoryFormat): Promise<void> {
  await assert.rejects(readInventory(text, format), (error) => {
    assert.ok(error instanceof Failure, `${text.slice(0, 60)} threw ${String(error)}`);
    assert.equal(error.code, 'invalid_argument');
    assert.match(error.message, message);
    assert.ok(error.message.length < 400, 'the message repeats the file');
    return true;
  });
}

const VARIABLES = '\n      ansible_host: 127.0.0.1\n      role: web\n      rack: r1\n';

describe('An inventory', () => {
  test('is read again alike from what was written of it', async () => {
    for (const [name, text] of Object.entries(SAME_FILES)) {
      const inventory = await readInventory(text);
      assert.deepEqual(readModel(writeModel(inventory)), inventory, name);
      assert.deepEqual(await readInventory(renderInventory(inventory)), inventory, name);
    }
  });

  test('is YAML or INI by its first line, and what the option says', async () => {
    for (const text of ['all:\n  hosts: {a: }', '---\nall: {hosts: {a: }}', '{"all": {"hosts": {"a": null}}}'])
      assert.deepEqual([...(await readInventory(text)).hosts.keys()], ['a']);
    for (const text of ['# c\n[web]\na\n', 'a\n', 'a ansible_port=22\n', '\u{FEFF}a\r\n; c\r\n'])
      assert.deepEqual([...(await readInventory(text)).hosts.keys()], ['a']);
    await refused(
      'all:\n  hosts: {a: }',
      /^file, line 1: a name ends with ":" in YAML only; give --format yaml/,
      'ini',
    );
  });

  test('has in ungrouped the hosts that are in no group', async () => {
    const inventory = await readInventory('a\nb\n[web]\nb\n');
    assert.deepEqual(inventory.groups.get('ungrouped')?.hosts, ['a']);
    assert.deepEqual(
      [...groupsOfHosts(inventory)],
      [
        ['a', ['ungrouped']],
        ['b', ['web']],
      ],
    );
  });

  test('T14: has no variable that names a program or arguments on this machine', async () => {
    for (const name of [
      'ansible_ssh_common_args',
      'ansible_ssh_extra_args',
      'ansible_ssh_executable',
      'ansible_sftp_extra_args',
      'ansible_scp_executable',
      'ansible_shell_executable',
      'ansible_become_exe',
      'ansible_become_flags',
      'ansible_ssh_private_key_file',
      'ansible_password',
      'ansible_perl_interpreter',
      'ansible_remote_tmp',
      'ansible_facts',
    ]) {
      const message = new RegExp(`^file, line 3: variable ${name} is not accepted; `);
      await refused(`all:\n  hosts:\n    a: {${name}: x}`, message);
      await refused(`[web]\na\nb ${name}=x`, message);
      await refused(`a\n[all:vars]\n${name} = x`, message);
    }
    for (const [name, value] of [
      ['ansible_connection', 'docker'],
      ['ansible_connection', 'paramiko_ssh'],
      ['ansible_host', '-oProxyCommand=x'],
      ['ansible_host', 'a b'],
      ['ansible_host', 'fe80::1%eth0'],
      ['ansible_port', '0'],
      ['ansible_port', '65536'],
      ['ansible_port', 'ssh'],
      ['ansible_user', '-l'],
      ['ansible_user', 'a;b'],
      ['ansible_python_interpreter', 'python3'],
      ['ansible_python_interpreter', '/bin/sh -c x'],
      ['ansible_become_method', 'runas'],
      ['ansible_become', 'perhaps'],
      ['hostvars', '1'],
      ['a-b', '1'],
    ] as const)
      await refused(`a "${name}=${value}"`, new RegExp(`^file, line 1: variable "?${name}"?: `));
  });

  test('T16: is data: no template, no tag, no plugin, no script', async () => {
    for (const value of ['{{ lookup("pipe", "id") }}', '{% if x %}', '{# x #}', 'a{{b']) {
      await refused(`all:\n  hosts:\n    a:\n      x: '${value}'`, /^file, line 4: variable x holds a template/);
      await refused(`a\n[all:vars]\nx=${value}`, /^file, line 3: variable x holds a template/);
      await refused(`all:\n  hosts: {a: }\n  vars:\n    x:\n      - {y: '${value}'}`, /line \d: variable x holds/);
    }
    await refused('all:\n  hosts:\n    "{{ x }}":', /^file, line 3: "\{\{ x \}\}" is not a host name/);
    await refused('all:\n  hosts: {a: }\n  vars:\n    x: !vault |\n      1', /^file, line 4: .*[Tt]ag/);
    await refused('all:\n  hosts: {a: }\n  vars: {x: !unsafe y}', /^file, line 3: .*[Tt]ag/);
    await refused('plugin: aws_ec2\nregions: [x]', /^file, line 1: this is the configuration of a plugin/);
    await refused('#!/bin/sh\necho {}', /^file, line 1: this is a script/);
    await refused(
      'all:\n  hosts: {a: }\n  vars:\n    x: {"__ansible_vault": "y"}',
      /variable x: the key "__ansible_vault"/,
    );
    await refused('a\nb\u0007', /^file, line 2: a control character/);
  });

  test('T24: has names of hosts and groups that are no path, option or pattern', async () => {
    for (const name of ['../x', '/etc/x', '-x', 'a b', 'a*', '~a', '@x', 'a,b', 'a&b', 'wéb', 'a_', 'x'.repeat(254)]) {
      await refused(`all:\n  hosts:\n    ${JSON.stringify(name)}:`, /^file, line 3: ".+" is not a host name/);
      await refused(`all:\n  children:\n    ${JSON.stringify(name === 'a_' ? '_a' : name)}:`, /is not a group name/);
    }
    await refused('[web 1]\na', /^file, line 1: "\[web 1\]" is not a section/);
    await refused('[web]\nweb', /^file, line 1: "web" is a host and a group/);
  });

  test('is refused with the line of what it lacks or contradicts', async () => {
    await refused(' \n', /^file: it is empty\.$/);
    await refused('[web]\n', /has no host/);
    await refused('- a', /^file, line 1: expected groups/, 'yaml');
    await refused('all:\n  host: {a: }', /^file, line 2: group "all": "host" is not one of hosts, children, vars/);
    await refused('all:\n  hosts: [a, b]', /^file, line 2: hosts: expected names with a colon/);
    await refused('all:\n  hosts: {a: b}', /^file, line 2: host "a": expected names/);
    await refused('a\n[web:vars]\nx=1', /^file, line 2: the section \[web:vars\] names the group "web", which has no/);
    await refused('a\n[x:children]\nweb', /^file, line 3: the section \[x:children\] names the group "web"/);
    await refused('a\n[x:foo]', /^file, line 2: section "\[x:foo\]": expected one of hosts, children, vars/);
    await refused('a\n[x:vars]\ny', /^file, line 3: expected NAME=VALUE, found "y"/);
    await refused('a b', /^file, line 1: expected NAME=VALUE after the host, found "b"/);
    await refused('a x="b', /^file, line 1: the quote " is not closed/);
    await refused('[a:children]\nb\n[b:children]\na\n[c]\nh', /^file, line \d: the group "\w" is, .* in itself/);
    await refused('[a:children]\na\n[c]\nh', /^file, line 2: the group "a" cannot be in itself/);
    await refused('[a:children]\nall\n[c]\nh', /^file, line 2: the group all is in no other group/);
    await refused('a:22\na:23', /^file, line 2: host "a" was named before with another port/);
    for (const value of [
      '{1, 2}',
      "['a']",
      '(1,)',
      '80, 443',
      "'a' 'b'",
      "r'x'",
      '"a\\n"',
      '1j',
      '...',
      '[]',
      '{"a": 1}',
    ])
      await refused(`a\n[all:vars]\nx=${value}`, /^file, line 3: ".+" is a list, map or other value of Python; .*YAML/);
    await refused('a ansible_group_priority=1', /is of groups only/);
  });

  test('in YAML has its aliases and merge keys expanded within a bound, as Ansible expands them', async () => {
    const text = 'a: &a\n  vars: {x: 1}\nweb:\n  vars: {<<: *v}\n';
    await refused(text, /^file, line 4: the alias "\*v" has no anchor before it/);
    const list = `l0: &l0 [${'x, '.repeat(30)}]\nl1: &l1 [${'*l0, '.repeat(30)}]\nl2: [${'*l1, '.repeat(30)}]\n`;
    const laughs = list.replaceAll(/^/gm, '    ').trimEnd();
    await refused(
      `all:\n  vars:\n${laughs}`,
      /^file, line 5: the alias "\*l1" expands the file to more than 10000 values/,
    );
    const inventory = await readInventory(SAME_FILES['anchors.yaml'] ?? '');
    assert.deepEqual(inventory.groups.get('db')?.hosts, ['web1', 'web2', 'db1']);
  });

  test('has bounds, and a range is counted before it is expanded', async () => {
    await refused('a[0:999999999999]', /^file, line 1: expected at most 10000 hosts/);
    await refused('a[1:200][1:200]', /^file, line 1: expected at most 10000 hosts/);
    await refused('a[1:6000]\nb[1:6000]', /^file, line 2: expected at most 10000 hosts/);
    for (const range of ['[1]', '[1:2:3:4]', '[a:9]', '[b:a]', '[2:1]', '[01:100]', '[1:9:0]', '[1:]', '[A:zz]'])
      await refused(`x\ny${range}`, /^file, line 2: the range \[/);
    await refused(`a${'[1:1]'.repeat(13_000)}`, /^file, line 1: expected at most 1000 characters in a name of hosts/);
    const groups = Array.from({ length: INVENTORY_LIMITS.groups }, (_each, at) => `[g${at}]`).join('\n');
    await refused(`a\n${groups}`, /^file, line 1000: expected at most 1000 groups/);
    await refused(`a[1:9999] x=${'y'.repeat(1_000)}`, /the variables of all hosts have more than 4194304 bytes/);
    await refused(`a\n#${'x'.repeat(INVENTORY_LIMITS.fileBytes)}`, /expected at most 2097152 bytes/, 'ini');
    const sections = Array.from({ length: 101 }, (_each, at) => `[g${at}]\na[1:1000]`).join('\n');
    await refused(sections, /^file, line 202: expected at most 100000 members of groups/);
  });

  test('T97: in YAML is refused before it is parsed where it has more parts than 10,000 hosts need', async () => {
    await refused('-\n'.repeat(200_000), /^file: it has too many lines, quotes, .+ at most 160000 in all/, 'yaml');
    const hosts = Array.from({ length: INVENTORY_LIMITS.hosts }, (_each, at) => `    h${at}:${VARIABLES}`);
    const read = await readInventory(`all:\n  hosts:\n${hosts.join('')}`, 'yaml');
    assert.equal(read.hosts.size, INVENTORY_LIMITS.hosts);
  });
});
