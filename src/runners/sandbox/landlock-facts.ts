import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { landlockError } from './kernel/landlock.ts';
import type { SystemCalls } from './kernel/system-call.ts';
import type { LandlockFacts } from './no-landlock.ts';

const MODULES = '/sys/kernel/security/lsm';
const STATUS = '/proc/self/status';
/** SECCOMP_MODE_FILTER, as the status of a process shows it. */
const FILTERED = '2';

/** What this process knows of the machine, for the reason why it has no Landlock. */
export function landlockFacts(system: SystemCalls): LandlockFacts {
  const mode = /^Seccomp:\s*(\d+)$/m.exec(readOrNull(STATUS) ?? '')?.[1];
  return {
    error: landlockError(system),
    release: release(),
    modules: readOrNull(MODULES)?.trim() ?? null,
    isFiltered: mode === undefined ? null : mode === FILTERED,
  };
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
