import * as fs from 'node:fs';
import { promisify } from 'node:util';

// In other threads: a file system that is gone may hold each of them up.
const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const close = promisify(fs.close);

/**
 * Opens only the place of an entry in the tree, without a right to its content: works on what is closed to its own
 * owner, and closing it drops no lock that SQLite holds on the file. Linux has this flag, Node has no name for it.
 */
export const O_PATH = 0o10000000;

const { O_NOFOLLOW } = fs.constants;

/** A symbolic link in a path that must not have this one. */
export class LinkInPath extends Error {
  override readonly name: string = 'LinkInPath';
}

/**
 * Opens what is at an absolute path, with O_PATH: from `/` on, part by part, each from the descriptor of the one before
 * it, and through no link. So no name that is exchanged in the mean time leads elsewhere. The caller closes it. Rejects
 * with LinkInPath, or with the system's error; also where `/proc` is missing.
 */
export async function openPlace(path: string): Promise<number> {
  let fd = await open('/', O_PATH);
  try {
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      const next = await open(`/proc/self/fd/${fd}/${part}`, O_PATH | O_NOFOLLOW);
      await close(fd);
      fd = next;
      if ((await fstat(fd)).isSymbolicLink()) throw new LinkInPath('the path leads through a symbolic link');
    }
    return fd;
  } catch (error) {
    await close(fd);
    throw error;
  }
}
