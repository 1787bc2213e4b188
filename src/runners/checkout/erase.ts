import { renameSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { someNames } from '../../lib/files/list-folder.ts';
import { randomName } from '../../lib/random.ts';
import { openOwnFolder } from '../run-files/own-folder.ts';
import { TreeRemoval } from '../run-files/remove-tree.ts';

/** The names of entries that are being removed begin like this. */
const GONE = '.gone-';
/** Entries that remain after this time are left to the next fetch, in milliseconds. */
const ERASE_WITHIN_MS = 60_000;

/**
 * Removes an entry of a folder of the service by descriptors: a process that a repository took over, and that escaped
 * the end of git, may still exchange what is in there. Never rejects; the next fetch removes the remains.
 */
export async function eraseEntry(folder: string, name: string, clock: Clock): Promise<void> {
  const until = clock.monotonic() + ERASE_WITHIN_MS;
  const holder = `${GONE}${randomName()}`;
  try {
    await using from = await openOwnFolder(folder);
    await from.makeFolder(holder, 0o700);
    await using into = await from.folder(holder);
    const removal = new TreeRemoval(into, () => clock.monotonic() >= until);
    if (!(await removal.take(from, name)) || !(await removal.empty())) return;
    await from.removeFolder(holder);
  } catch {
    // It has its name, or that of the holder, and both are removed by the next fetch.
  }
}

/** Takes the name from a path below `folder` at once, and then removes what was there. Nothing where it is gone. */
export async function discard(folder: string, path: string, clock: Clock): Promise<void> {
  const gone = `${GONE}${randomName()}`;
  try {
    renameSync(path, join(folder, gone));
  } catch (error) {
    // It does not exist, or another process was faster.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await eraseEntry(folder, gone, clock);
}

/** What a fetch that was killed left behind is removed after this time, in milliseconds: no fetch takes as long. */
export const LEFTOVER_MS = 600_000;
/** Names that one fetch looks at; the next one continues. */
export const LEFTOVERS_MAX = 1_000;

/** Removes what waits to be removed, and what fetches that were killed left in names with this beginning. */
export async function eraseLeftovers(folder: string, prefix: string, clock: Clock): Promise<void> {
  const isOurs = (name: string): boolean => name.startsWith(GONE) || name.startsWith(prefix);
  for (const name of await someNames(folder, LEFTOVERS_MAX, isOurs)) {
    const stats = await lstat(join(folder, name)).catch(() => null);
    const isOld = stats !== null && clock.now() - stats.mtimeMs > LEFTOVER_MS;
    if (name.startsWith(GONE) || isOld) await eraseEntry(folder, name, clock);
  }
}
