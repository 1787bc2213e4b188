/** The tests of older kernels, on the kernel of Debian with a file system in memory. */
import { globSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeImage } from './image.ts';
import { boot, fail, require, run } from './qemu.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TESTS = [
  'src/runners/sandbox/older-kernel.test.ts',
  'src/runners/checkout/git/older-kernel.test.ts',
  'test/proof/jobs/older-kernel.test.ts',
];
const KERNEL_PACKAGE = 'linux-image-amd64';
/** The files are in memory twice while they are unpacked. */
const MEMORY_MIB = 4_096;
/** Without hardware virtualisation the tests take about ten minutes on two cores. */
const DEADLINE_MS = 60 * 60_000;

interface OlderKernelOptions {
  /** An empty folder. */
  readonly scratch: string;
  /** A Debian package with a kernel; null for that of this Debian. */
  readonly deb: string | null;
  readonly kvm: boolean;
  /** Files of tests; without, all of them. */
  readonly named: readonly string[];
}

/** Prints what the guest prints. The result says whether each test file ended with 0. */
export async function runOlderKernelTests({ scratch, deb, kvm, named }: OlderKernelOptions): Promise<boolean> {
  require([
    ['busybox', 'busybox-static'],
    ['cpio', 'cpio'],
  ]);
  const tests = named.length === 0 ? TESTS : named;
  const kernel = unpackKernel(scratch, deb === null ? download(scratch) : resolve(deb));
  const initrd = join(scratch, 'initramfs');
  mkdirSync(join(scratch, 'files'));
  writeImage(initrd, join(scratch, 'files'));
  const place = `project=${ROOT} node=${process.execPath} tests=${tests.join(',')}`;
  const parameters = `console=ttyS0 rdinit=/init ${place}`;
  const devices = ['-serial', 'stdio'];
  let passed = 0;
  let isDone = false;
  const machine = { kernel, initrd, parameters, memoryMib: MEMORY_MIB, devices, deadlineMs: DEADLINE_MS, kvm };
  await boot(machine, (line) => {
    process.stdout.write(`${line}\n`);
    if (/^guest: \S+ ended with 0$/.test(line)) passed += 1;
    if (line === 'guest: done') isDone = true;
  });
  const missing = isDone ? '' : '; the guest did not end';
  process.stdout.write(`${passed} of ${tests.length} test files passed${missing}\n`);
  return isDone && passed === tests.length;
}

/** The package that the name stands for, from the sources of this machine. */
function download(scratch: string): string {
  const depends = run('apt-cache', ['depends', '--important', KERNEL_PACKAGE], scratch);
  const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
  if (name === undefined) fail(`${KERNEL_PACKAGE} is unknown here: run apt-get update, or name a package with --deb.`);
  run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', name], scratch);
  return globSync(join(scratch, `${name}_*.deb`))[0] ?? fail(`${name} was not downloaded.`);
}

function unpackKernel(scratch: string, file: string): string {
  const folder = join(scratch, 'kernel');
  run('dpkg-deb', ['-x', file, folder], scratch);
  return globSync(join(folder, 'boot', 'vmlinuz-*'))[0] ?? fail(`${file} holds no kernel.`);
}
