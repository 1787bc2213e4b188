import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vaultFault, vaultVariable } from './vault.ts';

describe('The secrets of a project in a playbook run', () => {
  it('are variables of their names, with _ for what a variable cannot have', () => {
    assert.deepEqual(['db', 'db.password', 'web-1', '9lives'].map(vaultVariable), [
      'db',
      'db_password',
      'web_1',
      '_9lives',
    ]);
    assert.equal(vaultFault('prod', ['db', 'ansible_password', 'ansible-become-pass']), null);
  });

  it('T15: never replace what Ansible sets, or change how it connects', () => {
    for (const name of ['ansible_ssh_common_args', 'ansible-connection'])
      assert.match(vaultFault('prod', ['db', name]) ?? '', /^secret ansible.* changes how Ansible connects$/);
    for (const name of ['hostvars', 'group-names'])
      assert.match(vaultFault('prod', [name]) ?? '', /^secret .* would be the variable .*, which Ansible sets$/);
  });

  it('are at least one and at most 50, each another variable', () => {
    assert.equal(vaultFault('prod', []), 'project prod has no secrets');
    const many = Array.from({ length: 51 }, (_, at) => `s${at}`);
    assert.equal(vaultFault('prod', many), 'project prod has more than 50 secrets');
    assert.equal(vaultFault('prod', many.slice(1)), null);
    assert.equal(vaultFault('prod', ['a-b', 'a.b']), 'secrets a-b and a.b would both be the variable a_b');
  });
});
