import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaybookRuns } from '../../../test/support/ansible/playbook-run.ts';
import { needs } from '../../../test/support/tools.ts';

const NEEDS = { skip: needs('ansible-playbook') };

test(
  'A playbook runs on this machine in the sandbox; its plays and tasks are progress, its hosts are results',
  NEEDS,
  async () => {
    await using runs = new PlaybookRuns();
    const { outcome, progress, text } = await runs.run({
      'site.yml': `
- name: Here
  hosts: all
  tasks:
    - name: says
      command: echo hello
    - name: copies
      copy: { src: data.txt, dest: "{{ lookup('env', 'HOME') }}/copied" }
    - name: renders
      template: { src: page.j2, dest: "{{ lookup('env', 'HOME') }}/page" }
    - name: uses a role
      include_role: { name: web }
`,
      'files/data.txt': 'data',
      'templates/page.j2': '{{ inventory_hostname }} {{ color }}',
      'group_vars/all.yml': 'color: blue',
      'roles/web/tasks/main.yml': '- name: of the role\n  shell: cat $HOME/page\n',
    });
    assert.equal(outcome.state, 'succeeded', text);
    assert.equal(outcome.exitCode, 0);
    assert.deepEqual(progress.slice(0, 3), [
      { play: 'Here', task: '' },
      { play: 'Here', task: 'Gathering Facts' },
      { play: 'Here', task: 'says' },
    ]);
    const { hosts = [], tasks = [] } = outcome.result ?? {};
    assert.deepEqual(
      hosts.map(({ host, cells, ok, changed }) => [host, cells, ok, changed]),
      [['localhost', 'occcoc', 5, 4]],
    );
    assert.equal(tasks.at(-1)?.task, 'web : of the role');
    assert.match(text, /PLAY RECAP/);
  },
);
