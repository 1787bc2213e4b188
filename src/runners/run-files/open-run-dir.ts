import { basename, dirname } from 'node:path';
import { AccountFolder } from './account-folder.ts';
import type { Folder } from './folder.ts';
import { openOwnFolder } from './own-folder.ts';

/** Opens the directory of a run, which is in a folder of the service. What belongs to an account is used as it. */
export async function openRunDir(runDir: string): Promise<Folder> {
  await using parent = await openOwnFolder(dirname(runDir));
  const found = await parent.folder(basename(runDir));
  try {
    const { uid, gid } = await found.stats();
    // The parent is in a folder of the service, so only the service chose this owner.
    if (uid !== process.geteuid?.()) return new AccountFolder(found.fd, { uid, gid });
  } catch (error) {
    await found[Symbol.asyncDispose]();
    throw error;
  }
  return found;
}
