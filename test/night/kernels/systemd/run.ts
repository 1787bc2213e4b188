/**
 * The service under systemd on Debian, in a separate machine: installed from the package as
 * docs/how-to/run-as-a-service.md says. The checks (guest/) run as a unit of the guest and print TAP on its second
 * serial line; the first has the console.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot, type Guest, require } from '../qemu.ts';
import { writeDisk } from './image.ts';

const MEMORY_MIB = 3_072;
/** Without hardware virtualisation it takes about half an hour on two cores. */
const DEADLINE_MS = 60 * 60_000;
const CONSOLE_LINES = 40;
/**
 * Each boots the disk as the one before left it. The second is a machine that lacks what the service would like to
 * have: Landlock, and control groups that bound memory.
 */
const BOOTS = [
  { checks: 'installed', parameters: '' },
  { checks: 'bare', parameters: 'lsm=lockdown,yama cgroup_disable=memory' },
];

export interface SystemdOptions {
  /** An empty folder. */
  readonly scratch: string;
  /** A folder that an earlier debootstrap filled (`BASE` of image.ts); null to fill one. */
  readonly base: string | null;
  readonly kvm: boolean;
}

/** Prints what the checks print. The result says whether all passed. */
export async function runSystemdChecks({ scratch, base, kvm }: SystemdOptions): Promise<boolean> {
  require([
    ['debootstrap', 'debootstrap'],
    ['mke2fs', 'e2fsprogs'],
  ]);
  const { disk, kernel, initrd } = writeDisk(scratch, base);
  let isGood = true;
  for (const { checks, parameters } of BOOTS) {
    const serial = join(scratch, `${checks}.log`);
    const devices = ['-serial', `file:${serial}`, '-serial', 'stdio'];
    const machine: Guest = {
      kernel,
      initrd,
      parameters: `console=ttyS0 root=/dev/vda rw ${parameters} checks=${checks}`,
      memoryMib: MEMORY_MIB,
      devices: [...devices, '-drive', `file=${disk},format=raw,if=virtio,cache=unsafe`],
      deadlineMs: DEADLINE_MS,
      kvm,
    };
    if (await runChecks(machine)) continue;
    isGood = false;
    const last = readFileSync(serial, 'latin1').split('\n').slice(-CONSOLE_LINES);
    process.stdout.write(`The checks "${checks}" failed. The end of the console:\n${last.join('\n')}\n`);
  }
  return isGood;
}

/** TAP, whose last lines count the tests by their results. */
async function runChecks(machine: Guest): Promise<boolean> {
  const counts: Record<string, number> = {};
  await boot(machine, (line) => {
    process.stdout.write(`${line}\n`);
    const [, name, count] = /^# (tests|fail|cancelled) (\d+)$/.exec(line) ?? [];
    if (name !== undefined) counts[name] = Number(count);
  });
  const { tests = 0, fail = 1, cancelled = 1 } = counts;
  return tests > 0 && fail + cancelled === 0;
}
