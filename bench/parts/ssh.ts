import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../src/domain/inventories/connection.ts';
import { knownHosts } from '../../src/domain/inventories/host-key.ts';
import { scanHostKeys } from '../../src/runners/inventories/scan-host-keys.ts';
import { createLauncher } from '../../src/runners/launch/launch.ts';
import { DEFAULT_PATH } from '../../src/runners/process/environment.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type SshServer, startSshServer } from '../../test/support/inventories/sshd.ts';
import { bareFanOut, prepareBareSsh } from '../floors/ssh.ts';
import type { Bench } from '../kit/bench.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../kit/daemon.ts';
import { openStream, readStream } from '../kit/event-stream.ts';
import { tempDir } from '../kit/scratch.ts';
import { median } from '../kit/statistics.ts';
import { monotonicMs } from '../kit/time.ts';

const HOSTS = 50;
const AT_A_TIME = 10;
const COMMAND = ['true'];

/** A command on many hosts, which are one OpenSSH server on the loopback address, against ssh by itself. */
export async function ssh({ report, quick }: Bench): Promise<void> {
  const server = await startSshServer();
  const daemon = await startDaemon();
  try {
    const hosts = await prepare(server, daemon);
    const dir = tempDir('ssh-bare');
    await prepareFloor(server, dir, hosts);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < (quick ? 3 : 20); round += 1) {
      // Each is first in every second round.
      const first = round % 2 === 0;
      if (first) ours.push(await run(daemon));
      bare.push(await bareFanOut({ dir }, hosts, COMMAND, AT_A_TIME));
      if (!first) ours.push(await run(daemon));
    }
    report.add({
      name: `a command on ${HOSTS} hosts, ${AT_A_TIME} at a time, request to end: p50`,
      value: median(ours),
      unit: 'ms',
      floor: { name: 'ssh with the same arguments, as many at a time', value: median(bare) },
      goal: { ratioAtMost: 1.2 },
    });
  } finally {
    await daemon.stop();
    await server.stop();
  }
}

async function prepare(server: SshServer, daemon: Daemon): Promise<Connection[]> {
  const dir = tempDir('ssh');
  const [key, inventory] = [join(dir, 'key'), join(dir, 'hosts.ini')];
  writeFileSync(key, server.privateKey, { mode: 0o600 });
  const at = `ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user}`;
  writeFileSync(inventory, `[web]\nweb[1:${HOSTS}] ${at}\n`);
  await daemon.svc(['secret', 'set', 'ops/key', '--file', key]);
  await daemon.svc(['inventory', 'add', 'many', '--file', inventory, '--ssh-key', 'ops/key']);
  await daemon.svc(['inventory', 'trust', 'many', 'all', '--fingerprint', server.fingerprint]);
  return Array.from({ length: HOSTS }, (_each, n) => ({
    host: `web${n + 1}`,
    address: '127.0.0.1',
    port: server.port,
    user: server.user,
    kind: 'ssh' as const,
  }));
}

async function prepareFloor(server: SshServer, dir: string, hosts: readonly Connection[]): Promise<void> {
  const how = { launcher: createLauncher(), clock: systemClock, searchPath: DEFAULT_PATH, account: null };
  const keys = await scanHostKeys(how, { address: '127.0.0.1', port: server.port });
  const known = knownHosts(hosts, new Map(hosts.map(({ host }) => [host, keys])));
  prepareBareSsh({ dir, privateKey: server.privateKey, knownHosts: known });
}

async function run(daemon: Daemon): Promise<number> {
  const before = monotonicMs();
  const response = await daemon.ask('POST', '/commands/run', { inventory: 'many', command: COMMAND });
  expectStatus(response, 202);
  const { job_id: id } = (JSON.parse(response.body.toString()) as { data: { job_id: string } }).data;
  await readStream(await openStream(daemon, id, daemon.headers), () => undefined);
  const ms = monotonicMs() - before;
  const { state } = await getData<{ state: string }>(daemon, `/jobs/${id}`);
  if (state !== 'succeeded') throw new Error(`the command ended as ${state}`);
  return ms;
}
