import { readFileSync } from 'node:fs';
import { ACCOUNT_CAPABILITIES } from '../domain/jobs/account.ts';

/** What a process needs to start and end jobs as another account. It reads /proc of Linux; elsewhere it is missing. */

/** Mount options of /proc that hide the processes of other accounts. */
const HIDES = /\bhidepid=(?!0|off)\w+/;

/** The names of the capabilities that this process does not have. */
export function missingCapabilities(): string[] {
  const held = BigInt(`0x${/^CapEff:\s+([0-9a-f]+)$/m.exec(read('/proc/self/status'))?.[1] ?? '0'}`);
  return ACCOUNT_CAPABILITIES.filter(({ number }) => (held & (1n << BigInt(number))) === 0n).map(({ name }) => name);
}

/**
 * Why a process that is not root could not find and end the processes of another account; null if it could. `mounts`
 * and `limits` have the text of /proc/self/mountinfo and /proc/self/limits.
 */
export function hiddenProcesses(
  mounts = read('/proc/self/mountinfo'),
  limits = read('/proc/self/limits'),
): string | null {
  const proc = mounts.split('\n').findLast((line) => line.split(' ')[4] === '/proc');
  if (proc !== undefined && HIDES.test(proc))
    return '/proc hides the processes of other accounts (hidepid=); mount it without, and omit ProtectProc=';
  if (!/^Max realtime timeout +\S+ +unlimited/m.test(limits))
    return 'a limit on real-time processing (LimitRTTIME=, ulimit -R) keeps jobs from being marked; remove it';
  return null;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
