import { mkdir, rmdir } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { randomName } from '../../lib/random.ts';
import { openOwnFolder } from '../run-files/folder.ts';
import { TreeRemoval } from '../run-files/remove-tree.ts';

/** What is on its way to be removed has a name that begins like this. */
export const GONE = '.gone-';
/** Entries that remain after this time are left to the next fetch, in milliseconds. */
const ERASE_WITHIN_MS = 60_000;

/**
 * Removes an entry of a folder of the service by descriptors: a process that a repository took over, and that escaped
 * the end of git, may still exchange what is in there. Never rejects; the next fetch goes on with what is left.
 */
export async function eraseEntry(folder: string, name: string, clock: Clock): Promise<void> {
  const until = clock.monotonic() + ERASE_WITHIN_MS;
  const holder = `${GONE}${randomName()}`;
  try {
    await using from = await openOwnFolder(folder);
    await mkdir(from.at(holder), { mode: 0o700 });
    await using into = await from.folder(holder);
    const removal = new TreeRemoval(into, () => clock.monotonic() >= until);
    if (!(await removal.take(from, name)) || !(await removal.empty())) return;
    await rmdir(from.at(holder));
  } catch {
    // It has its name, or that of the holder, and both are removed by the next fetch.
  }
}
