import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PlaybookRuns } from '../../support/ansible/playbook-run.ts';
import { needs } from '../../support/tools.ts';

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
    - name: works on as many hosts at a time as the service says
      command: test {{ ansible_forks }} = 7
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
      { play: 'Here', task: 'works on as many hosts at a time as the service says' },
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

const VAULT_CANARY = 'vault-canary-7d1f0b';
const OTHER_CANARY = 'other-canary-52c9aa';
const VAULT = [
  { name: 'db-password', variable: 'db_password', value: Buffer.from(VAULT_CANARY) },
  { name: 'other', variable: 'other', value: Buffer.from(OTHER_CANARY) },
];

/** A text encrypted for a vault id, as a value of YAML. */
function encrypted(dir: string, id: string, password: string, text: string): string {
  const file = join(dir, `password-${id}`);
  writeFileSync(file, password);
  const made = spawnSync('ansible-vault', ['encrypt_string', `--vault-id=${id}@${file}`, '--stdin-name=x'], {
    input: text,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: dir, LANG: 'C.UTF-8', ANSIBLE_HOME: join(dir, '.ansible') },
  });
  assert.equal(made.status, 0, made.stderr);
  return made.stdout.slice(made.stdout.indexOf('!vault'));
}

test(
  'T55: the secrets of a project open what was encrypted for their vault ids, and are variables',
  NEEDS,
  async () => {
    await using runs = new PlaybookRuns();
    const { outcome, text } = await runs.run(
      {
        'site.yml': `
- hosts: all
  gather_facts: false
  vars:
    first: ${encrypted(runs.dir, 'db-password', VAULT_CANARY, 'opened-first')}
    second: ${encrypted(runs.dir, 'other', OTHER_CANARY, 'opened-second')}
  tasks:
    - debug: { msg: "{{ first }} {{ second }}" }
    - debug: { var: db_password }
    - name: prints the arguments of the processes above it, up to ansible-playbook
      shell: |
        pid=$PPID
        while [ -e /proc/$pid/status ]; do
          words=$(tr '\\0' ' ' < /proc/$pid/cmdline)
          echo "$words"
          case $words in *--inventory=*) break;; *node*) break;; esac
          pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
        done
      register: arguments
    - debug: { var: arguments.stdout }
    - fail: { msg: "the password is {{ other }}" }
`,
      },
      { spec: { vaultProject: 'prod' }, materials: { vault: VAULT }, hidden: VAULT.map(({ value }) => value) },
    );
    assert.equal(outcome.state, 'failed');
    assert.match(text, /"msg": "opened-first opened-second"/);
    assert.match(text, /"db_password": "\[redacted · secret\]"/);
    const [, printed = ''] = /"arguments.stdout": (.*)/.exec(text) ?? [];
    assert.match(printed, /ansible-playbook --inventory=/);
    assert.doesNotMatch(printed, /redacted|canary/);
    assert.equal(outcome.result?.hosts[0]?.failure?.message, 'the password is [redacted · secret]');
    assert.doesNotMatch(`${text}${JSON.stringify(outcome)}`, /canary/);
  },
);

const play = (task: string): Record<string, string> => ({
  'site.yml': `- hosts: all\n  gather_facts: false\n  tasks:\n    - name: task\n      ${task}\n`,
});

test('F12: a run that is stopped or reaches its time-out ends with all of its processes', NEEDS, async () => {
  await using runs = new PlaybookRuns();
  const files = play("shell: setsid sh -c 'trap \"\" TERM; sleep 601' & trap '' TERM; sleep 601");
  const late = await runs.run(files, { timeoutMs: 8_000 });
  assert.equal(late.outcome.state, 'failed', late.text);
  assert.match(late.text, /system: The job reached its time-out and was stopped/);
  const stop = new AbortController();
  const onProgress = ({ task }: { task: string }): void => (task === 'task' ? stop.abort() : undefined);
  const running = runs.run(files, { signal: stop.signal, onProgress });
  assert.equal((await running).outcome.state, 'cancelled');
  const commands = globSync('/proc/[0-9]*/cmdline').map((file) => {
    try {
      return readFileSync(file, 'latin1');
    } catch {
      return '';
    }
  });
  assert.equal(commands.filter((words) => words.split('\0').join(' ') === 'sleep 601 ').length, 0);
});

test('F13: a task that prints bytes and writes to the pipe of the report does not harm the run', NEEDS, async () => {
  await using runs = new PlaybookRuns();
  const { outcome, text } = await runs.run({
    'site.yml': `
- hosts: all
  gather_facts: false
  tasks:
    - name: "caf\\u00e9 \\u202e"
      shell: printf '\\\\377\\\\376\\\\000\\\\033[31mred\\\\r\\\\n'
      register: odd
    - debug: { var: odd.stdout }
    - name: writes to the pipe of the report
      shell: |
        for fd in /proc/[0-9]*/fd/9; do
          printf '%s\\n' '{"event":"total","host":"forged"}' 'no json' '{"event":"task","task":-1}' > $fd || true
          head -c 300000 /dev/zero > $fd || true
        done 2>/dev/null
        true
    - debug: { msg: after }
`,
  });
  assert.equal(outcome.state, 'succeeded', text);
  assert.deepEqual(
    outcome.result?.hosts.map(({ host }) => host),
    ['localhost'],
  );
  assert.match(text, /"msg": "after"/);
});

test(
  'A playbook that cannot be run fails with a sentence: not on the PATH, no such playbook, wrong syntax',
  NEEDS,
  async () => {
    await using runs = new PlaybookRuns();
    const broken = await runs.run({ 'site.yml': '- hosts: [all\n' });
    assert.deepEqual([broken.outcome.state, broken.outcome.exitCode], ['failed', 4], broken.text);
    const missing = await runs.run({}, { searchPath: '/nowhere' });
    assert.deepEqual([missing.outcome.state, missing.outcome.exitCode], ['failed', null]);
    assert.match(missing.text, /ansible-playbook is not on the PATH of the daemon: install ansible-core/);
  },
);
