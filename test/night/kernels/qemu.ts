/** An emulated machine for a kernel. Exits the process where a program that it needs is missing or fails. */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { find } from '../../support/tools.ts';

export interface Guest {
  readonly kernel: string;
  readonly initrd: string;
  /** Of the kernel. */
  readonly parameters: string;
  readonly memoryMib: number;
  /** Further words of QEMU: disks, serial lines. One serial line is standard output. */
  readonly devices: readonly string[];
  readonly deadlineMs: number;
  /** With the virtualisation of this machine, else emulated. */
  readonly kvm: boolean;
}

/** Without protection keys: V8 uses them where it finds them, and has crashed in the emulator. */
const CPU = 'max,-pku';

/** Runs the guest until it switches itself off, or the deadline. `onLine` gets what it prints on standard output. */
export function boot(guest: Guest, onLine: (line: string) => void): Promise<void> {
  const { kernel, initrd, parameters, memoryMib, devices, deadlineMs, kvm } = guest;
  const machine = ['-accel', kvm ? 'kvm' : 'tcg,thread=multi', '-cpu', CPU, '-smp', '2', '-m', String(memoryMib)];
  const system = ['-kernel', kernel, '-initrd', initrd, '-append', `${parameters} quiet panic=-1`];
  const words = [...machine, ...system, '-nodefaults', '-display', 'none', '-no-reboot', ...devices];
  const emulator = spawn('qemu-system-x86_64', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const deadline = setTimeout(() => emulator.kill('SIGKILL'), deadlineMs);
  createInterface({ input: emulator.stdout }).on('line', (line) => onLine(line.trimEnd()));
  return new Promise((end, reject) => {
    emulator.once('error', reject);
    emulator.once('close', () => {
      clearTimeout(deadline);
      end();
    });
  });
}

/** Program and Debian package. */
export function require(needed: readonly (readonly [string, string])[]): void {
  const missing = needed.filter(([program]) => find(program) === null).map(([, name]) => name);
  if (missing.length > 0) fail(`Missing Debian packages: ${missing.join(', ')}.`);
}

/** What it prints. */
export function run(program: string, words: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) fail(`${program} ${words.join(' ')} failed: ${stderr}`);
  return stdout;
}

export function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
