/** The fan-out without the daemon: the same ssh with the same arguments, as many at a time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../src/domain/inventories/connection.ts';
import { inParallel } from '../../src/lib/flow/parallel.ts';
import { sshWords } from '../../src/runners/command/ssh.ts';
import { cleanEnvironment } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

export interface BareSsh {
  readonly dir: string;
  readonly privateKey: string;
  readonly knownHosts: string;
}

/** Writes the files that ssh is given. */
export function prepareBareSsh({ dir, privateKey, knownHosts }: BareSsh): void {
  writeFileSync(join(dir, 'key'), privateKey, { mode: 0o600 });
  writeFileSync(join(dir, 'known_hosts'), knownHosts);
}

/** Milliseconds from the first start to the last end. */
export async function bareFanOut(
  { dir }: Pick<BareSsh, 'dir'>,
  hosts: readonly Connection[],
  command: readonly string[],
  atATime: number,
): Promise<number> {
  const files = { key: join(dir, 'key'), agent: null, knownHosts: join(dir, 'known_hosts'), log: '/dev/null' };
  const before = monotonicMs();
  await inParallel(hosts, atATime, async (host) => {
    const [program = '', ...args] = sshWords(host, files, command);
    const child = spawn(program, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`ssh to ${host.host} ended with ${code}`);
  });
  return monotonicMs() - before;
}
