/** The one folder of a run of the tests, in which all their temporary files are. It is removed at the exit. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openTemporaryFolder } from './open-folder.ts';

/** As that of /tmp: every account makes files there, and removes its own only. */
const SHARED_MODE = 0o1777;
const OTHERS_PASS_MODE = 0o755;

export interface Scratch {
  readonly folder: string;
  /** For TMPDIR. */
  readonly temporary: string;
}

/** Makes it. The names are short: a path of a socket has at most 107 characters. */
export function makeScratch(): Scratch {
  const folder = mkdtempSync(join(openTemporaryFolder(), 'gatehouse-'));
  process.once('exit', () => remove(folder));
  chmodSync(folder, OTHERS_PASS_MODE);
  const temporary = join(folder, 't');
  mkdirSync(temporary);
  chmodSync(temporary, SHARED_MODE);
  return { folder, temporary };
}

/** What is closed is opened first: an account other than root removes nothing from such a folder. */
function remove(folder: string): void {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    rmSync(folder, options);
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', folder], { stdio: 'ignore' });
    try {
      rmSync(folder, options);
    } catch (error) {
      process.stderr.write(`${folder} cannot be removed: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
