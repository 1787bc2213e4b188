import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownHosts } from '../../../src/domain/inventories/host-key.ts';
import { LOCALHOST_INVENTORY, type Inventory } from '../../../src/domain/inventories/inventory.ts';
import { connections } from '../../../src/domain/inventories/connection.ts';
import { readInventory } from '../../../src/domain/inventories/read.ts';
import { INVENTORY_FILE, renderInventory } from '../../../src/domain/inventories/render.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { PlaybookMaterials } from '../../../src/runners/ansible/inputs.ts';
import { scanHostKeys } from '../../../src/runners/inventories/scan-host-keys.ts';
import { createLauncher } from '../../../src/runners/launch/launch.ts';
import { DEFAULT_PATH } from '../../../src/runners/process/environment.ts';
import { SPEC } from '../../../test/support/ansible/playbook-run.ts';
import { type SshServer, startSshServer } from '../../../test/support/inventories/sshd.ts';
import { prepareBarePlaybook } from '../../floors/ansible.ts';
import type { Bench } from '../../kit/bench.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../../kit/daemon.ts';
import { openStream, readStream } from '../../kit/event-stream.ts';
import { passableTempDir, tempDir } from '../../kit/scratch.ts';
import { median } from '../../kit/statistics.ts';
import { monotonicMs } from '../../kit/time.ts';

const HOSTS = 3;
const PAIRS = 20;
/** With --quick no pair of runs begins after this long in one place: a run takes from 2 s to 30 s on a busy machine. */
const QUICK_MS = 40_000;
const PLAYBOOK = `
- hosts: all
  tasks:
    - command: 'true'
    - shell: echo "{{ inventory_hostname }}"
      register: said
    - debug: var=said.stdout
    - command: 'true'
    - assert: { that: "said.stdout == inventory_hostname" }
`;

/** A playbook with facts and five tasks, against ansible-playbook by itself. */
export async function playbook({ report, quick }: Bench): Promise<void> {
  const server = await startSshServer();
  const daemon = await startDaemon();
  try {
    const tree = join(passableTempDir('playbook'), 'source');
    mkdirSync(tree, { mode: 0o755 });
    writeFileSync(join(tree, 'site.yml'), PLAYBOOK);
    await daemon.svc(['source', 'add', 'ops', '--dir', tree]);
    const overSsh = await prepareHosts(server, daemon);
    const places = [
      { name: `on ${HOSTS} hosts over SSH`, inventory: 'many', ports: [server.port], materials: overSsh },
      { name: 'with a local connection', inventory: 'localhost', ports: [], materials: of(LOCALHOST_INVENTORY) },
    ];
    for (const { name, inventory, ports, materials } of places) {
      const bareRun = await prepareBarePlaybook(tempDir('playbook-bare'), SPEC, {
        ...materials,
        tree: { path: tree, named: null },
      });
      const order = { playbook: SPEC.playbook, source: 'ops', inventory, egress_ports: ports };
      const [ours, bare]: [number[], number[]] = [[], []];
      const began = monotonicMs();
      const isOver = (pairs: number): boolean =>
        pairs >= PAIRS || (quick && pairs > 0 && monotonicMs() - began > QUICK_MS);
      for (let round = 0; !isOver(round); round += 1) {
        // Each is first in every second round.
        const first = round % 2 === 0;
        if (first) ours.push(await run(daemon, order));
        bare.push(await bareRun());
        if (!first) ours.push(await run(daemon, order));
      }
      report.add({
        name: `a playbook of 5 tasks and facts ${name}, request to end: p50`,
        value: median(ours),
        unit: 'ms',
        floor: { name: 'ansible-playbook with the same arguments', value: median(bare) },
        goal: { ratioAtMost: 1.05 },
        note: `${ours.length} pairs`,
      });
    }
  } finally {
    await daemon.stop();
    await server.stop();
  }
}

function of(inventory: Inventory): Omit<PlaybookMaterials, 'tree'> {
  return {
    plugins: false,
    dependencies: null,
    inventory: { file: INVENTORY_FILE, text: renderInventory(inventory) },
    hosts: null,
    knownHosts: '',
    sshPorts: [],
    sshKey: null,
    vault: [],
    forks: 10,
  };
}

/** Gives the daemon the inventory, and answers the same for a run without it. */
async function prepareHosts(server: SshServer, daemon: Daemon): Promise<Omit<PlaybookMaterials, 'tree'>> {
  const dir = tempDir('playbook-hosts');
  const [key, file] = [join(dir, 'key'), join(dir, 'hosts.ini')];
  const at = `ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user}`;
  const text = `[web]\nweb[1:${HOSTS}] ${at}\n`;
  writeFileSync(key, server.privateKey, { mode: 0o600 });
  writeFileSync(file, text);
  await daemon.svc(['secret', 'set', 'ops/key', '--file', key]);
  await daemon.svc(['inventory', 'add', 'many', '--file', file, '--ssh-key', 'ops/key']);
  await daemon.svc(['inventory', 'trust', 'many', 'all', '--fingerprint', server.fingerprint]);
  const inventory = await readInventory(text, 'ini');
  const how = { launcher: createLauncher(), clock: systemClock, searchPath: DEFAULT_PATH, account: null };
  const keys = await scanHostKeys(how, { address: '127.0.0.1', port: server.port });
  const hosts = [...inventory.hosts.keys()];
  const known = knownHosts(connections(inventory, hosts), new Map(hosts.map((host) => [host, keys])));
  return { ...of(inventory), knownHosts: known, sshKey: Buffer.from(server.privateKey) };
}

async function run(daemon: Daemon, order: object): Promise<number> {
  const before = monotonicMs();
  const response = await daemon.ask('POST', '/playbooks/run', order);
  expectStatus(response, 202);
  const { job_id: id } = (JSON.parse(response.body.toString()) as { data: { job_id: string } }).data;
  await readStream(await openStream(daemon, id, daemon.headers), () => undefined);
  const ms = monotonicMs() - before;
  const { state } = await getData<{ state: string }>(daemon, `/jobs/${id}`);
  if (state !== 'succeeded') throw new Error(`the playbook ended as ${state}`);
  return ms;
}
