/**
 * `npm run kernels [-- --deb FILE] [TEST...]`: boots the kernel of Debian in an emulated machine and runs the tests of
 * older kernels on it. The kernel is that of linux-image-amd64, downloaded and unpacked but not installed, or that of
 * FILE, a Debian package. It needs Linux on x64; the guest is root, this program need not be. Exits with 1 when a
 * test failed or did not end.
 */
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { find } from '../support/tools.ts';
import { writeImage } from './image.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TESTS = [
  'src/runners/sandbox/older-kernel.test.ts',
  'src/runners/checkout/git/older-kernel.test.ts',
  'test/stories/jobs/older-kernel.test.ts',
];
const KERNEL_PACKAGE = 'linux-image-amd64';
/** Program and Debian package. */
const NEEDED: readonly (readonly [string, string])[] = [
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['busybox', 'busybox-static'],
  ['cpio', 'cpio'],
  ['dpkg-deb', 'dpkg'],
  ['apt-get', 'apt'],
];
/** The files are in memory twice while they are unpacked. */
const MEMORY_MIB = 4_096;
/** Without protection keys: V8 uses them where it finds them, and has crashed in the emulator. */
const CPU = 'max,-pku';
/** Without hardware virtualisation the tests take about ten minutes on two cores. */
const DEADLINE_MS = 60 * 60_000;

const args = process.argv.slice(2);
const deb = args[0] === '--deb' ? (args[1] ?? '') : null;
const named = deb === null ? args : args.slice(2);
const tests = named.length === 0 ? TESTS : named;

const missing = NEEDED.filter(([program]) => find(program) === null).map(([, name]) => name);
if (missing.length > 0) fail(`Missing Debian packages: ${missing.join(', ')}.`);
if (process.platform !== 'linux' || process.arch !== 'x64') fail('This needs Linux on x64.');

const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-kernels-'));
try {
  const kernel = unpackKernel(deb === null ? download() : resolve(deb));
  const image = join(scratch, 'initramfs');
  mkdirSync(join(scratch, 'files'));
  writeImage(image, join(scratch, 'files'));
  process.exitCode = await boot(kernel, image);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

/** The package that the name stands for, from the sources of this machine. */
function download(): string {
  const depends = run('apt-cache', ['depends', '--important', KERNEL_PACKAGE]);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (name === undefined) fail(`${KERNEL_PACKAGE} is unknown here: run apt-get update, or name a package with --deb.`);
  run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', name]);
  return globSync(join(scratch, `${name}_*.deb`))[0] ?? fail(`${name} was not downloaded.`);
}

function unpackKernel(file: string): string {
  const folder = join(scratch, 'kernel');
  run('dpkg-deb', ['-x', file, folder]);
  return globSync(join(folder, 'boot', 'vmlinuz-*'))[0] ?? fail(`${file} holds no kernel.`);
}

function run(program: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: scratch, encoding: 'utf8' });
  if (status !== 0) fail(`${program} ${words.join(' ')} failed: ${stderr}`);
  return stdout;
}

/** Prints what the guest prints. Answers 0 if each test ended with 0. */
function boot(kernel: string, image: string): Promise<number> {
  const parameters = `console=ttyS0 quiet panic=-1 rdinit=/init project=${ROOT} node=${process.execPath}`;
  const machine = ['-accel', 'tcg,thread=multi', '-cpu', CPU, '-smp', '2', '-m', String(MEMORY_MIB)];
  const system = ['-kernel', kernel, '-initrd', image, '-append', `${parameters} tests=${tests.join(',')}`];
  const console = ['-nodefaults', '-display', 'none', '-no-reboot', '-serial', 'stdio'];
  const words = [...machine, ...system, ...console];
  const guest = spawn('qemu-system-x86_64', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const deadline = setTimeout(() => guest.kill('SIGKILL'), DEADLINE_MS);
  let passed = 0;
  let isDone = false;
  createInterface({ input: guest.stdout }).on('line', (line) => {
    process.stdout.write(`${line.trimEnd()}\n`);
    if (/^guest: \S+ ended with 0\s*$/.test(line)) passed += 1;
    if (line.trimEnd() === 'guest: done') isDone = true;
  });
  return new Promise((end, reject) => {
    guest.once('error', reject);
    guest.once('close', () => {
      clearTimeout(deadline);
      process.stdout.write(
        `${passed} of ${tests.length} test files passed${isDone ? '' : '; the guest did not end'}\n`,
      );
      end(isDone && passed === tests.length ? 0 : 1);
    });
  });
}
