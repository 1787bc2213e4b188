import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.ts';

/**
 * Who has been told to end. The daemon, its guard and the daemon that rescues may each end the same tree, and a second
 * SIGTERM makes many tools give up their orderly end: terraform exits at once then, and forgets what it has just made.
 * So each process is told once by all of them, which one file each says, in a folder that the job can't write to.
 */
export class Told {
  readonly #dir: string | null;
  readonly #names = new Set<string>();

  /** Without a folder only this ending knows. */
  constructor(dir: string | null) {
    this.#dir = dir;
  }

  /** True for the first who asks about this process, of all that share the folder. */
  claim(pid: number, startTicks: number): boolean {
    const name = `${pid}-${startTicks}`;
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    return this.#dir === null || isFirst(this.#dir, name);
  }
}

/** The folder of a run's directory. */
export function toldDirOf(runDir: string): string {
  return `${runDir}.told`;
}

function isFirst(dir: string, name: string): boolean {
  try {
    mkdirSync(dir, { mode: 0o700, recursive: true });
  } catch {
    return true;
  }
  try {
    closeSync(openSync(join(dir, name), 'wx', 0o600));
    return true;
  } catch (error) {
    // Where it can't be noted, an end that is told twice is better than one that is never told.
    return errorCode(error) !== 'EEXIST';
  }
}
