/**
 * `npm run kernels [-- [--kvm] [--deb FILE] [--base DIR] [systemd | TEST...]]`: boots Debian's kernel in an emulated
 * machine: first the tests of older kernels with a file system in memory, then Debian with systemd and the unit of the
 * service. `systemd` runs the second part alone, names of tests the first one alone. It needs Linux on x64, and root
 * for the second part. Exits with 1 when a test failed or did not end. CONTRIBUTING.md has the rest.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../../../scripts/arguments.ts';
import { runOlderKernelTests } from './older.ts';
import { fail, require } from './qemu.ts';
import { runSystemdChecks } from './systemd/run.ts';

const { values, positionals } = readArguments(
  'npm run kernels [-- [--kvm] [--deb FILE] [--base DIR] [systemd | TEST...]]',
  { kvm: { type: 'boolean', default: false }, deb: { type: 'string' }, base: { type: 'string' } },
  true,
);
const { kvm, deb = null, base = null } = values;

if (process.platform !== 'linux' || process.arch !== 'x64') fail('This needs Linux on x64.');
require([
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['dpkg-deb', 'dpkg'],
  ['apt-get', 'apt'],
]);
const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-kernels-'));
// At the exit, because `fail` ends the process at once: no `finally` runs then.
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const isSystemd = positionals[0] === 'systemd';
const parts = [
  ...(isSystemd ? [] : [() => runOlderKernelTests({ scratch, deb, kvm, named: positionals })]),
  ...(isSystemd || positionals.length === 0 ? [() => runSystemdChecks({ scratch, base, kvm })] : []),
];
for (const part of parts) if (!(await part())) process.exitCode = 1;
