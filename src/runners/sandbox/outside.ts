import { closeSync, constants, fstatSync, lstatSync, openSync, opendirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readWritable, SYSTEM_FOLDERS, writableFault } from '../../domain/jobs/writable.ts';
import { errorCode } from '../../lib/error-code.ts';
import { O_PATH } from '../../lib/files/open-path.ts';
import { isWithin } from '../../lib/within.ts';
import type { OutsideFolders } from './policy.ts';

/** Opens the directories outside its run that a job may write. The kernel gets the descriptors that were checked. */

/** A directory that no job may write. The message begins with `writable` and quotes the path. */
export class OutsideRefused extends Error {
  override readonly name: string = 'OutsideRefused';

  constructor(path: string, fault: string) {
    super(`writable: ${JSON.stringify(path)}: ${fault}`);
  }
}

const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SSH_FOLDER = '.ssh';
const ACCOUNTS = '/etc/passwd';
/** Entries of a directory that are looked at for a `.ssh` in them. */
const LOOKED_AT_MAX = 1_000;

/** Directories held open, in the order of their paths. */
export interface OpenedFolders {
  readonly fds: readonly number[];
  readonly close: () => void;
}

/** A file or directory by what it is: also under another name, through a bind mount. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

interface Kept extends Identity {
  readonly path: string;
  /** The directories that hold it, below the root. */
  readonly above: readonly Identity[];
}

/**
 * Opens each directory from `/` on, part by part, without following a link, and checks it. The caller closes the
 * descriptors. Synchronous: few short calls. Throws OutsideRefused; then nothing is left open.
 */
export function openOutside({ paths, kept }: OutsideFolders): OpenedFolders {
  const fault = writableFault(paths);
  if (fault !== null) throw new OutsideRefused(paths[0] ?? '', fault);
  const all = [...SYSTEM_FOLDERS, ...kept].flatMap(keptOf);
  const fds: number[] = [];
  const close = (): void => fds.forEach((fd) => closeSync(fd));
  try {
    for (const path of paths) fds.push(openChecked(path, all));
  } catch (error) {
    close();
    throw error;
  }
  return { fds, close };
}

/** Checks directories without keeping them open. Throws OutsideRefused. */
export function checkOutside(folders: OutsideFolders): void {
  if (folders.paths.length > 0) openOutside(folders).close();
}

function openChecked(path: string, kept: readonly Kept[]): number {
  const read = readWritable(path);
  if ('fault' in read) throw new OutsideRefused(path, read.fault);
  let fd = openSync('/', FOLDER);
  try {
    const root = fstatSync(fd, { bigint: true });
    let walked = '';
    for (const part of read.path.split('/').slice(1)) {
      const next = openPart(path, fd, part, `${walked}/${part}`);
      closeSync(fd);
      fd = next;
      walked = `${walked}/${part}`;
      const stats = fstatSync(fd, { bigint: true });
      if (stats.dev === root.dev && stats.ino === root.ino)
        throw new OutsideRefused(path, 'it is / under another name');
      const own = kept.find((each) => isSame(each, stats));
      if (own !== undefined) throw new OutsideRefused(path, `it is or lies in ${own.path}, which no job may write`);
    }
    const last = fstatSync(fd, { bigint: true });
    const held = kept.find(
      (each) => isWithin(each.path, read.path) || each.above.some((folder) => isSame(folder, last)),
    );
    if (held !== undefined) throw new OutsideRefused(path, `it holds ${held.path}, which no job may write`);
    refuseKeys(read.path, fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openPart(path: string, fd: number, part: string, at: string): number {
  try {
    return openSync(`/proc/self/fd/${fd}/${part}`, FOLDER);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw new OutsideRefused(path, `${at} does not exist`);
    if (code === 'EACCES') throw new OutsideRefused(path, `${at} cannot be reached`);
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    throw new OutsideRefused(path, `${at} is a symbolic link or no directory; give the path without links`);
  }
}

/** A `.ssh` in it, in a directory directly below it, or in the home of an account below it. */
function refuseKeys(path: string, fd: number): void {
  const own = `/proc/self/fd/${fd}`;
  const places = [own, ...foldersIn(own).map((name) => join(own, name))];
  const homes = homeFolders().filter((home) => isWithin(home, path));
  for (const place of [...places, ...homes]) {
    if (!isThere(join(place, SSH_FOLDER))) continue;
    const shown = place.startsWith(own) ? path + place.slice(own.length) : place;
    throw new OutsideRefused(path, `it holds ${shown}/${SSH_FOLDER}, which no job may write`);
  }
}

function foldersIn(folder: string): string[] {
  const names: string[] = [];
  try {
    const entries = opendirSync(folder);
    try {
      for (let looked = 0; looked < LOOKED_AT_MAX; looked += 1) {
        const entry = entries.readSync();
        if (entry === null) break;
        if (entry.isDirectory()) names.push(entry.name);
      }
    } finally {
      entries.closeSync();
    }
  } catch {
    // What this process cannot list.
  }
  return names;
}

function homeFolders(): string[] {
  try {
    return readFileSync(ACCOUNTS, 'utf8')
      .split('\n')
      .flatMap((line) => line.split(':')[5] ?? [])
      .filter((home) => home.startsWith('/') && home !== '/');
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A file that does not exist yet is kept by its path, without the links of the folders above it. */
function keptOf(path: string): Kept[] {
  const real = realOf(path);
  const above: Identity[] = [];
  for (let folder = dirname(real); folder !== dirname(folder); folder = dirname(folder))
    above.push(identityOf(folder) ?? NOTHING);
  return [{ path: real, above, ...(identityOf(real) ?? NOTHING) }];
}

const NOTHING: Identity = { dev: -1n, ino: -1n };

function identityOf(path: string): Identity | null {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return { dev, ino };
  } catch {
    return null;
  }
}

function isSame(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), path.slice(path.lastIndexOf('/') + 1));
  }
}
