import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.ts';

/**
 * Ensures that each process gets SIGTERM once. The daemon, its guard and a rescuing daemon may each end the same tree,
 * and a second SIGTERM makes many tools abandon their orderly end: terraform exits at once and loses its latest
 * changes. A file per process, in a folder that the job cannot write to, records the signal for all of them.
 */
export class TermOnce {
  readonly #dir: string | null;
  readonly #names = new Set<string>();

  /** Without a folder the record is only in memory. */
  constructor(dir: string | null) {
    this.#dir = dir;
  }

  /** True for the first caller for this process, of all that share the folder. */
  claim(pid: number, startTicks: number): boolean {
    const name = `${pid}-${startTicks}`;
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    return this.#dir === null || isFirst(this.#dir, name);
  }
}

/** The folder of a run's directory. */
export function termDirOf(runDir: string): string {
  return `${runDir}.told`;
}

function isFirst(dir: string, name: string): boolean {
  try {
    // Not what is above it: the guard of a killed daemon would make the folder of a run again that was just removed.
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return true;
  }
  try {
    closeSync(openSync(join(dir, name), 'wx', 0o600));
    return true;
  } catch (error) {
    // If it cannot be recorded, two signals are better than none.
    return errorCode(error) !== 'EEXIST';
  }
}
