import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { changedDirectory, changeOf, type DirectoryIdentity, type Tree } from '../../domain/sources/directory.ts';
import { bootId } from '../../lib/boot-id.ts';
import { LinkInPath, openPlace } from '../../lib/files/open-path.ts';
import { ownerAccount } from '../account/owner-account.ts';
import { AccountFolder } from '../run-files/account-folder.ts';
import type { Folder } from '../run-files/folder.ts';
import { openOwnFolder, OwnFolder } from '../run-files/own-folder.ts';

const close = promisify(fs.close);
const fstat = promisify(
  (fd: number, done: (error: NodeJS.ErrnoException | null, stats: fs.BigIntStats) => void): void =>
    fs.fstat(fd, { bigint: true }, done),
);

/** A directory that is held open: what it is called by now does not matter. */
export interface OpenDirectory extends AsyncDisposable {
  /** Used with the rights of its owner, where this process is root. */
  readonly folder: Folder;
  readonly identity: DirectoryIdentity;
}

/**
 * Opens a directory that a person named, part by part. Rejects with LinkInPath for a symbolic link in the path, and
 * with the system's error; ENOTDIR for what is no directory.
 */
export async function openDirectory(path: string): Promise<OpenDirectory> {
  const fd = await openPlace(path);
  try {
    const stats = await fstat(fd);
    if (!stats.isDirectory()) throw Object.assign(new Error('it is no directory'), { code: 'ENOTDIR' });
    const owner = Number(stats.uid);
    const account = await ownerAccount(owner);
    const folder = account === null ? new OwnFolder(fd) : new AccountFolder(fd, account);
    const identity = { device: String(stats.dev), inode: String(stats.ino), owner, boot: bootId() };
    return { folder, identity, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  } catch (error) {
    await close(fd);
    throw error;
  }
}

/**
 * Opens the directory of a tree, which the caller closes. Rejects with a Failure, for the output of a job, for another
 * directory than the one that was named.
 */
export async function openTree({ path, named }: Tree): Promise<Folder> {
  if (named === null) return openOwnFolder(path);
  const { folder, identity } = await openDirectory(path).catch((error: unknown) => {
    throw error instanceof LinkInPath ? changedDirectory(named.words, 'link') : error;
  });
  const change = changeOf(named.identity, identity);
  if (change === null) return folder;
  await folder[Symbol.asyncDispose]();
  throw changedDirectory(named.words, change);
}
