/** The disk of the guest: Debian as debootstrap makes it, the package of this checkout in /opt/gatehouse, checks. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { find } from '../../../support/tools.ts';
import { fail, run } from '../qemu.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const SUITE = 'bookworm';
/** Besides the smallest Debian: its own kernel, systemd, and the one library that Node lacks. */
const PACKAGES = 'systemd,systemd-sysv,dbus,libatomic1,linux-image-cloud-amd64';
/** A file with holes: only what is in it takes room. */
const DISK_SIZE = '4G';
/** What the checks import, by the same paths. */
const CHECKS = ['test/night/kernels/systemd/guest', 'test/support'];

/** `idle` waits until the units of the boot have started. A check that never ends is ended by the host. */
const CHECKS_UNIT = `[Unit]
SuccessAction=poweroff
FailureAction=poweroff

[Service]
Type=idle
Environment=HOME=/root GATEHOUSE_TEST_PATIENCE=10
ExecStart=/opt/gatehouse/node_modules/.bin/node --disable-warning=ExperimentalWarning --test-reporter=tap \\
  --test-reporter-destination=/dev/ttyS1 /opt/checks/test/night/kernels/systemd/guest/main.ts

[Install]
WantedBy=multi-user.target
`;
/** What the guest does not need, and what else would print on its serial lines. */
const MASKED = [
  'serial-getty@ttyS0.service',
  'serial-getty@ttyS1.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
];

export interface Disk {
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** `base` is a folder of an earlier run of debootstrap with these packages. */
export function writeDisk(scratch: string, base: string | null): Disk {
  if (process.getuid?.() !== 0) fail('debootstrap needs root.');
  const root = join(scratch, 'root');
  // In a separate mount namespace: what it mounts is gone at its end, however it ends.
  const words = ['--mount', 'debootstrap', '--variant=minbase', `--include=${PACKAGES}`, SUITE, root];
  if (base === null) run('unshare', words, scratch);
  else run('cp', ['-a', base, root], scratch);
  install(scratch, root);
  addChecks(root);
  const disk = join(scratch, 'disk');
  run('mke2fs', ['-q', '-t', 'ext4', '-d', root, disk, DISK_SIZE], scratch);
  return { disk, kernel: only(join(root, 'boot/vmlinuz-*')), initrd: only(join(root, 'boot/initrd.img-*')) };
}

/** The package as npm makes it, with the Node of this checkout, and terraform or tofu if this machine has one. */
function install(scratch: string, root: string): void {
  const packed = join(scratch, run('npm', ['pack', '--silent', '--pack-destination', scratch], ROOT).trim());
  const place = join(root, 'opt/gatehouse');
  mkdirSync(join(place, 'node_modules/.bin'), { recursive: true });
  run('tar', ['-xzf', packed, '-C', place, '--strip-components=1', '--no-same-owner'], scratch);
  copyProgram(process.execPath, join(place, 'node_modules/.bin/node'));
  symlinkSync('/opt/gatehouse/bin/svc', join(root, 'usr/local/bin/svc'));
  for (const tool of ['terraform', 'tofu']) {
    const program = find(tool);
    if (program !== null) copyProgram(program, join(root, 'usr/local/bin', tool));
  }
}

function copyProgram(from: string, to: string): void {
  copyFileSync(realpathSync(from), to);
  chmodSync(to, 0o755);
}

function addChecks(root: string): void {
  for (const path of CHECKS) {
    mkdirSync(dirname(join(root, 'opt/checks', path)), { recursive: true });
    cpSync(join(ROOT, path), join(root, 'opt/checks', path), { recursive: true });
  }
  const units = join(root, 'etc/systemd/system');
  writeFileSync(join(root, 'opt/checks/package.json'), '{ "type": "module" }\n');
  writeFileSync(join(root, 'etc/hostname'), 'guest\n');
  writeFileSync(join(units, 'checks.service'), CHECKS_UNIT);
  symlinkSync('/etc/systemd/system/checks.service', join(units, 'multi-user.target.wants/checks.service'));
  for (const name of MASKED) symlinkSync('/dev/null', join(units, name));
}

function only(pattern: string): string {
  return globSync(pattern)[0] ?? fail(`There is no ${pattern}.`);
}
