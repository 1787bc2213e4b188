import * as fs from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

// In other threads: a file system that is gone may hold each of them up.
const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const readlink = promisify(fs.readlink);
const close = promisify(fs.close);

/**
 * Opens only the place of an entry in the tree, without a right to its content: works on what is closed to its own
 * owner, and closing it drops no lock that SQLite holds on the file. Linux has this flag, Node has no name for it.
 */
export const O_PATH = 0o10000000;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
/** The number that Linux follows. */
const LINKS_MAX = 40;
const OTHERS_WRITE = 0o022;
/** Only the owner of an entry removes or renames it. */
const STICKY = 0o1000;

/** A symbolic link in a path that must not have this one. */
export class LinkInPath extends Error {
  override readonly name: string = 'LinkInPath';
}

/** Whether a symbolic link is followed. */
type LinkRule = (link: fs.Stats, folder: fs.Stats) => boolean;

const NO_LINKS: LinkRule = () => false;

/**
 * Opens what is at an absolute path, with O_PATH: from `/` on, part by part, each from the descriptor of the one before
 * it. So no name that is exchanged in the mean time leads elsewhere, and no link is followed that `follows` does not
 * allow. The caller closes it. Rejects with LinkInPath, or with the system's error; also where `/proc` is missing.
 */
export async function openPlace(path: string, follows: LinkRule = NO_LINKS): Promise<number> {
  const left = path.split('/').toReversed();
  let fd = await open('/', O_PATH);
  try {
    for (let links = 0; left.length > 0;) {
      const part = left.pop() ?? '';
      if (part === '' || part === '.') continue;
      const next = await open(entryOf(fd, part), O_PATH | O_NOFOLLOW);
      if (!(await isFollowed(fd, next, follows))) {
        await close(fd);
        fd = next;
        continue;
      }
      await close(next);
      const target = await readlink(entryOf(fd, part));
      if (++links > LINKS_MAX) throw new LinkInPath('there are too many symbolic links in the path');
      left.push(...target.split('/').toReversed());
      if (!target.startsWith('/')) continue;
      const root = await open('/', O_PATH);
      await close(fd);
      fd = root;
    }
    return fd;
  } catch (error) {
    await close(fd);
    throw error;
  }
}

/** False for anything but a link. Closes `next`, and rejects, for a link that the rule does not allow. */
async function isFollowed(folder: number, next: number, follows: LinkRule): Promise<boolean> {
  try {
    const stats = await fstat(next);
    if (!stats.isSymbolicLink()) return false;
    if (!follows(stats, await fstat(folder))) throw new LinkInPath('the path leads through a symbolic link');
    return true;
  } catch (error) {
    await close(next);
    throw error;
  }
}

function entryOf(fd: number, part: string): string {
  return `/proc/self/fd/${fd}/${part}`;
}

/**
 * Opens a file that the service reads by its path, such as one of certificates. A symbolic link is followed where it is
 * the work of root or of this account: it belongs to one of them, and no one else may exchange it.
 */
export async function openSettled(path: string): Promise<FileHandle> {
  // Elsewhere there is no such path of a descriptor.
  if (process.platform !== 'linux') return openFile(path);
  const fd = await openPlace(resolve(path), isSettled);
  try {
    return await openFile(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK);
  } finally {
    await close(fd);
  }
}

function isSettled(link: fs.Stats, folder: fs.Stats): boolean {
  const isClosed = (folder.mode & OTHERS_WRITE) === 0 || (folder.mode & STICKY) !== 0;
  return isClosed && isOurs(link) && isOurs(folder);
}

function isOurs({ uid }: fs.Stats): boolean {
  return uid === 0 || uid === process.geteuid?.();
}
