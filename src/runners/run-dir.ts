import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toldDirOf } from './process/told.ts';

/** The directory of one run: working directory, HOME and TMPDIR of its programs, and gone with it. */

/** A saved plan in clear, for the one tool that carries it out. */
export const PLAN_FILE = 'saved.tfplan';

export async function makeRunDir(runsDir: string, jobId: string): Promise<string> {
  const runDir = join(runsDir, jobId);
  await mkdir(runDir, { mode: 0o700 });
  return runDir;
}

/**
 * Removes it with all that is in it. False when something is left: a process that could not be ended still writes there,
 * or a file belongs to somebody else. Not synchronous: a job may leave a hundred thousand files.
 */
export async function removeRunDir(runDir: string): Promise<boolean> {
  await removed(toldDirOf(runDir));
  if (await removed(runDir)) return true;
  await openFolders(runDir);
  return removed(runDir);
}

async function removed(runDir: string): Promise<boolean> {
  try {
    await rm(runDir, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** What a job left in a folder that it has closed to its own user goes too. Links are not followed. */
async function openFolders(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await openFolders(join(folder, entry.name));
    }
  } catch {
    // The removal tells whether it mattered.
  }
}
