import { chmodSync, lchownSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { errorCode } from '../../lib/error-code.ts';
import { atOnceAs, atOnceInGroupOf } from '../account/at-once.ts';
import type { Name } from './folder.ts';
import { openRunDir } from './open-run-dir.ts';
import { type OwnFolder, openOwnFolder } from './own-folder.ts';
import { TreeRemoval } from './remove-tree.ts';

/**
 * A folder of another account lies in an outer folder of the service. A service that is not root cannot give files
 * away, so the account makes the folder itself, and for that moment its group may write the outer one. Afterwards the
 * group can only pass it: only the service adds, renames or removes entries there, and other accounts of the
 * machine do not get in, whatever mode a job gives its folder.
 */

const OWNER_ALL = 0o700;
const GROUP_PASSES = 0o710;
const GROUP_LISTS = 0o750;
const GROUP_WRITES = 0o730;
/** Files that are made in such a folder get its group. */
const SET_GROUP = 0o2000;
const OWNER_STAYS = -1;

/**
 * Makes an outer folder, and in it the folder of the account. Synchronous: these are a few short calls in folders in
 * which nothing of the account is at work. Throws where there is something of that name.
 */
export function makeFolderOf(account: AccountIds, path: string): void {
  const outer = dirname(path);
  mkdirSync(outer, { mode: OWNER_ALL });
  giveToGroup(outer, account, GROUP_WRITES);
  atOnceAs(account, () => mkdirSync(path, { mode: OWNER_ALL }));
  chmodSync(outer, GROUP_PASSES);
}

/** New files of this folder of the service belong to the group of the account, which can pass, and list it or not. */
export function shareFolder(account: AccountIds, path: string, isListed = false): void {
  giveToGroup(path, account, (isListed ? GROUP_LISTS : GROUP_PASSES) | SET_GROUP);
}

/** The owner may give a file to a group that this thread is in. */
function giveToGroup(path: string, account: AccountIds, mode: number): void {
  atOnceInGroupOf(account, () => {
    lchownSync(path, OWNER_STAYS, account.gid);
    chmodSync(path, mode);
  });
}

/** Removes a folder of an account with its outer folder and all that is in there. False when something is left. */
export async function removeFolderOf(path: string, isOver: () => boolean): Promise<boolean> {
  const outer = dirname(path);
  try {
    await using folder = await openOwnFolder(outer);
    // From here on no process of the account gets in by a path.
    await folder.setMode(OWNER_ALL);
    if (!(await removeEmpty(folder, basename(path)))) {
      await using full = await openRunDir(path);
      if (!(await new TreeRemoval(full, isOver).empty())) return false;
      await folder.removeFolder(basename(path));
    }
    // What is left is the service's own.
    for await (const { name } of folder.entries()) {
      if (!(await removeEmpty(folder, name))) await rm(join(outer, name.toString('utf8')), { recursive: true });
    }
    await using runs = await openOwnFolder(dirname(outer));
    await runs.removeFolder(basename(outer));
    return true;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
}

/** False for a file, and for a folder that is not empty. What is missing counts as removed. */
async function removeEmpty(folder: OwnFolder, name: Name): Promise<boolean> {
  try {
    await folder.removeFolder(name);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}
