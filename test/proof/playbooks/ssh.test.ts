/** Playbooks over SSH: the real ansible-playbook and a real OpenSSH server on the loopback address. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { PlaybookRuns } from '../../support/ansible/playbook-run.ts';
import { type SshServer, startSshServer } from '../../support/inventories/sshd.ts';
import { needs } from '../../support/tools.ts';
import { readInventory } from '../../../src/domain/inventories/read.ts';
import { INVENTORY_FILE, renderInventory } from '../../../src/domain/inventories/render.ts';
import type { PlaybookMaterials } from '../../../src/runners/ansible/inputs.ts';

const SITE = `
- name: Hosts
  hosts: all
  gather_facts: false
  tasks:
    - name: says
      command: echo from {{ inventory_hostname }}
`;

/** How long a server may take to show its key, in seconds: ssh-keyscan itself gives up after five, without an error. */
const SCAN_S = 60;

/** The host keys of a server, as lines of known_hosts. */
function keysOf(port: number): string {
  const args = ['-T', String(SCAN_S), '-p', String(port), '-t', 'ed25519', '127.0.0.1'];
  const { stdout, stderr } = spawnSync('ssh-keyscan', args, { encoding: 'utf8' });
  assert.match(stdout, /ssh-ed25519/, stderr);
  return stdout;
}

/** Tries of a run. */
const TRIES_MAX = 5;

/** What Ansible says where ssh ends while it still sends the module: on a busy machine it does, again and again. */
const SENT_IN_VAIN = /^Data could not be sent/;

/** The first run in which Ansible has the reason of ssh. */
async function withReason(run: () => ReturnType<PlaybookRuns['run']>): ReturnType<PlaybookRuns['run']> {
  for (let tries = 1; ; tries += 1) {
    const ran = await run();
    const message = ran.outcome.result?.hosts[0]?.failure?.message ?? '';
    if (tries === TRIES_MAX || !SENT_IN_VAIN.test(message)) return ran;
  }
}

describe('a playbook over SSH', { skip: needs('ansible-playbook', 'sshd', 'ssh') }, () => {
  let server: SshServer;
  let known: string;
  before(async () => {
    server = await startSshServer();
    known = keysOf(server.port);
  });
  after(() => server.stop());

  /** Hosts by name with their ports. */
  const materials = async (hosts: Readonly<Record<string, number>>): Promise<Partial<PlaybookMaterials>> => {
    const lines = Object.entries(hosts).map(
      ([name, port]) => `${name} ansible_host=127.0.0.1 ansible_port=${port} ansible_user=${server.user}\n`,
    );
    return {
      inventory: { file: INVENTORY_FILE, text: renderInventory(await readInventory(lines.join(''), 'ini')) },
      knownHosts: known,
      sshPorts: Object.values(hosts),
      sshKey: Buffer.from(server.privateKey),
    };
  };

  it('runs on a host whose key is known, with the key of the inventory, and copies files', async () => {
    await using runs = new PlaybookRuns();
    const { outcome, text } = await runs.run(
      {
        'site.yml': `
- hosts: all
  tasks:
    - tempfile: { state: directory }
      register: place
    - copy: { src: data.txt, dest: "{{ place.path }}/data" }
    - template: { src: page.j2, dest: "{{ place.path }}/page" }
    - command: cat {{ place.path }}/data {{ place.path }}/page
      register: both
    - assert: { that: "both.stdout == 'data of ' + inventory_hostname" }
    - file: { path: "{{ place.path }}", state: absent }
`,
        'files/data.txt': 'data',
        'templates/page.j2': ' of {{ inventory_hostname }}',
      },
      { materials: await materials({ web1: server.port }) },
    );
    assert.deepEqual([outcome.state, outcome.exitCode], ['succeeded', 0], text);
    assert.deepEqual(
      outcome.result?.hosts.map(({ host, failures }) => [host, failures]),
      [['web1', 0]],
    );
  });

  it('is degraded if only an offline host is missing, which is tolerated; other hosts are not reached', async () => {
    await using runs = new PlaybookRuns();
    const all = await materials({ web1: server.port, down: 9, other: server.port });
    const { outcome, text } = await runs.run(
      { 'site.yml': SITE },
      {
        materials: { ...all, hosts: ['web1', 'down'] },
        spec: { egressPorts: [server.port, 9], tolerateUnreachable: true },
      },
    );
    assert.deepEqual([outcome.state, outcome.exitCode], ['degraded', 4], text);
    assert.deepEqual(
      outcome.result?.hosts.map(({ host, cells }) => [host, cells]),
      [
        ['down', 'u'],
        ['web1', 'c'],
      ],
    );
    assert.match(text, /system: 1 host could not be reached\./);
  });

  it('T35: a port that was not listed gets no connection', async () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    try {
      await using runs = new PlaybookRuns();
      const { port } = listener.address() as AddressInfo;
      // The port is that of a host outside the limit; the play gives it to one inside.
      const site = SITE.replace('  hosts: all', `  hosts: all\n  vars: { ansible_port: ${port} }`);
      const all = { ...(await materials({ web1: server.port, other: port })), hosts: ['web1'] };
      const selected = { ...all, sshPorts: [server.port] };
      const { outcome, text } = await withReason(() => runs.run({ 'site.yml': site }, { materials: selected }));
      assert.deepEqual([outcome.state, outcome.exitCode, connections], ['failed', 4, 0], text);
      assert.match(text, /No host could be reached/);
      if (!SENT_IN_VAIN.test(outcome.result?.hosts[0]?.failure?.message ?? ''))
        assert.match(text, new RegExp(`may not connect to\\. To allow it: --egress-port ${port}$`, 'm'));
    } finally {
      listener.close();
    }
  });

  it('F26: a server that accepts and says nothing is unreachable', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      await using runs = new PlaybookRuns();
      const { port } = silent.address() as AddressInfo;
      const { outcome, text } = await runs.run(
        { 'site.yml': SITE },
        { materials: await materials({ web1: port }), spec: { egressPorts: [port] } },
      );
      assert.deepEqual([outcome.state, outcome.exitCode, outcome.result?.recap.unreachable], ['failed', 4, 1], text);
    } finally {
      silent.close();
    }
  });

  it('a host with another key is unreachable with that reason, whatever the source says', async () => {
    const moved = await startSshServer();
    try {
      const before = keysOf(moved.port);
      await moved.changeHostKey();
      await using runs = new PlaybookRuns();
      const base = await materials({ web1: moved.port });
      const files = {
        'site.yml': SITE,
        'group_vars/all.yml':
          'ansible_ssh_args: -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\n' +
          'ansible_host_key_checking: false\nansible_ssh_common_args: -o StrictHostKeyChecking=no\n' +
          'ansible_ssh_extra_args: -o StrictHostKeyChecking=no\n',
      };
      const against = (knownHosts: string) => ({
        materials: { ...base, knownHosts, sshKey: Buffer.from(moved.privateKey) },
        spec: { egressPorts: [moved.port] },
      });
      const { outcome, text } = await withReason(() => runs.run(files, against(before)));
      assert.deepEqual([outcome.state, outcome.exitCode, outcome.result?.recap.unreachable], ['failed', 4, 1], text);
      const reason = outcome.result?.hosts[0]?.failure?.message ?? '';
      if (!SENT_IN_VAIN.test(reason)) {
        assert.equal(reason, 'its host key has changed, and the new one was not accepted');
        assert.equal(text.match(/HOST IDENTIFICATION HAS CHANGED/g)?.length, 1, text);
      }
      const unknown = await withReason(() => runs.run({ 'site.yml': SITE }, against('')));
      assert.equal(unknown.outcome.result?.recap.unreachable, 1);
      assert.match(
        unknown.outcome.result?.hosts[0]?.failure?.message ?? '',
        /No .* host key is known|key verification failed|^Data could not be sent/i,
      );
    } finally {
      await moved.stop();
    }
  });
});
