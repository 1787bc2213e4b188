/**
 * Kernels with an older Landlock. On a newer kernel the ABI is forced: a ruleset without the newer rights is what an
 * older kernel makes of it. A kernel that is older itself knows no higher ABI than its own.
 */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLauncher, type Launcher } from '../../../src/runners/launch/launch.ts';
import { Machine, openMachine } from '../../../src/runners/launch/machine.ts';
import { LANDLOCK_ABI_OF_PORTS, landlockAbi } from '../../../src/runners/sandbox/kernel/landlock.ts';
import { openSystemCalls } from '../../../src/runners/sandbox/kernel/system-call.ts';
import { copyOfTheProgram, replace } from './program-copy.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');

/** For the option `skip` of a test: why an ABI cannot be forced here, or jobs cannot have another account. */
export function needsOlderKernel(abi: number): string | false {
  if (process.platform !== 'linux') return 'the sandbox needs Linux';
  if (process.getuid?.() !== 0) return 'needs root to become another account';
  const own = landlockAbi(openSystemCalls());
  return own < abi && `this kernel has Landlock ABI ${own}`;
}

/** The same for a daemon. On an older kernel only its own ABI is tried, because a changed copy starts slowly there. */
export function needsKernelOf(abi: number): string | false {
  const missing = needsOlderKernel(abi);
  if (missing !== false) return missing;
  const own = landlockAbi(openSystemCalls());
  return own !== abi && own < LANDLOCK_ABI_OF_PORTS && `this kernel has Landlock ABI ${own}`;
}

/** Launchers for a kernel with this ABI: one as it is by default, and one that allows unfiltered egress. */
export function launchersOfOlderKernel(abi: number): { readonly launcher: Launcher; readonly permissive: Launcher } {
  const machine = new Machine({ abi, children: openMachine().children });
  const open = (): Machine => machine;
  return { launcher: createLauncher({ open }), permissive: createLauncher({ open, allowUnfilteredEgress: true }) };
}

/** The first file of a program that takes this kernel for one with this ABI: a copy, unless it is one. */
export function programOfOlderKernel(t: TestContext, abi: number): string {
  if (landlockAbi(openSystemCalls()) === abi) return MAIN;
  const copy = copyOfTheProgram(t);
  replace(
    join(copy, 'src/runners/sandbox/kernel/landlock.ts'),
    /return Math\.max\(0, (system\.call\(.*\))\);/,
    `return Math.min(${abi}, $1);`,
  );
  return join(copy, 'src', 'main.ts');
}
