import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../lib/error-code.ts';
import { atOnceAs } from '../account/at-once.ts';
import { FOLDER_FLAGS } from './folder-flags.ts';
import type { Folder, Name } from './folder.ts';
import { openRunDir } from './open-run-dir.ts';
import { inOwnFolder } from './own-folder.ts';

/**
 * Files of a run that programs of the run may have changed. Paths are relative to the run directory; each part is
 * opened from the descriptor of the one before it, and none may be a link. So what is read lies below the run
 * directory, also when a folder is replaced by a link at the same time.
 */

const OWNER_ONLY = 0o600;
/** The number that Linux follows. */
const LINKS_MAX = 40;
const NEW_FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** The path of a run directory, or what opens another folder whose names may be exchanged at any time. */
type Below = string | (() => Promise<Folder>);

/** Calls `use` with the folder that holds the last name of a path, and that name. */
async function inFolder<T>(below: Below, path: string, use: (folder: Folder, name: string) => Promise<T>): Promise<T> {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  await using folder = await openFolder(below, parts);
  return await use(folder, name);
}

async function openFolder(below: Below, parts: readonly string[]): Promise<Folder> {
  let folder = await (typeof below === 'string' ? openRunDir(below) : below());
  for (const part of parts) {
    await using outer = folder;
    folder = await outer.folder(part);
  }
  return folder;
}

/** A regular file of at most `limitBytes`. Rejects for a missing or larger file, a link and any other kind. */
export function readRunFile(runDir: string, path: string, limitBytes: number): Promise<Buffer> {
  return inFolder(runDir, path, async (folder, name) => {
    await using file = await folder.file(name, constants.O_RDONLY);
    const stats = await file.stats();
    if (!stats.isFile() || stats.size > limitBytes)
      throw new Error(`${path} is not a file of at most ${limitBytes} bytes`);
    return await file.read(stats.size);
  });
}

/**
 * Writes a new file after removing any entry of that name: it never writes through a link. The file belongs to the
 * owner of its folder, who alone may read and write it, unless `mode` of a file of the service says more.
 */
export function writeRunFile(runDir: string, path: string, bytes: Uint8Array, mode = OWNER_ONLY): Promise<void> {
  return inFolder(runDir, path, async (folder, name) => {
    await unlinkIfThere(folder, name);
    await using file = await folder.file(name, NEW_FILE_FLAGS, OWNER_ONLY);
    await file.write(bytes);
    if (mode !== OWNER_ONLY) fchmodSync(file.fd, mode);
  });
}

/**
 * The same for a small file of a run directory that has no entry of that name: at once, because the program of the run
 * waits for it, and before that program starts. Throws where there is one.
 */
export function placeRunFile(runDir: string, name: string, bytes: Uint8Array): void {
  inOwnFolder(dirname(runDir), (at) =>
    withOpen(openSync(at(basename(runDir)), FOLDER_FLAGS), (folder) => {
      const { uid, gid } = fstatSync(folder);
      const open = (): number => openSync(`/proc/self/fd/${folder}/${name}`, NEW_FILE_FLAGS, OWNER_ONLY);
      const file = uid === process.geteuid?.() ? open() : atOnceAs({ uid, gid }, open);
      withOpen(file, () => writeFileSync(file, bytes));
    }),
  );
}

function withOpen(fd: number, use: (fd: number) => void): void {
  try {
    use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes a folder that only its owner may use. Rejects where there is something of that name. */
export function makeRunFolder(runDir: string, path: string): Promise<void> {
  return inFolder(runDir, path, (folder, name) => folder.makeFolder(name, 0o700));
}

/** Opens a folder. The caller closes it. */
export function openRunFolder(runDir: string, path: string): Promise<Folder> {
  return openFolder(runDir, path.split('/'));
}

/** The names of the entries of a folder. */
export async function listRunFolder(runDir: string, path: string): Promise<string[]> {
  await using folder = await openRunFolder(runDir, path);
  return await namesIn(folder);
}

/** Those that are wanted: a folder that others may fill can have millions of names. */
export async function namesIn(folder: Folder, isWanted: (name: string) => boolean = () => true): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of folder.entries()) {
    const name = entry.name.toString('utf8');
    if (isWanted(name)) names.push(name);
  }
  return names;
}

/** Removes a file or a link. A missing entry is not an error. */
export function removeRunFile(runDir: string, path: string): Promise<void> {
  return inFolder(runDir, path, unlinkIfThere);
}

async function unlinkIfThere(folder: Folder, name: Name): Promise<void> {
  await folder.unlink(name).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
}

/** Whether there is anything of that name. A part of the path that can't be opened counts as missing. */
export function hasRunEntry(runDir: string, path: string): Promise<boolean> {
  return versionOfRunFile(runDir, path).then((version) => version !== '');
}

/** A text that changes when the file does; empty for a missing file. */
export function versionOfRunFile(runDir: string, path: string): Promise<string> {
  const version = inFolder(runDir, path, async (folder, name) => {
    const { mtimeNs, size, ino } = await folder.statsOf(name);
    return `${mtimeNs} ${size} ${ino}`;
  });
  return version.catch(() => '');
}

/** Why a folder of a run has no path without links. */
export class NoRunFolder extends Error {
  /** True when a link leads out of the run directory. */
  readonly isOutside: boolean;

  constructor(path: string, isOutside: boolean) {
    super(`${path} is not a folder of the run`);
    this.isOutside = isOutside;
  }
}

/**
 * The path of a folder without the links in it, for the other functions. Links that stay in the run directory are
 * followed, by their text and from the descriptors. Rejects with NoRunFolder.
 */
export async function resolveRunFolder(runDir: string, path: string): Promise<string> {
  const found = await resolveFolder(runDir, path);
  if (found === '') throw new NoRunFolder(path, true);
  return found;
}

/** The same; empty for the folder itself. */
async function resolveFolder(below: Below, path: string): Promise<string> {
  const left = path.split('/').toReversed();
  const found: string[] = [];
  let links = 0;
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (found.pop() === undefined) throw new NoRunFolder(path, true);
      continue;
    }
    const target = await linkTarget(below, [...found, part].join('/')).catch(() => null);
    if (target === null || (target !== '' && ++links > LINKS_MAX)) throw new NoRunFolder(path, false);
    if (target.startsWith('/')) throw new NoRunFolder(path, true);
    if (target === '') found.push(part);
    else left.push(...target.split('/').toReversed());
  }
  return found.join('/');
}

/** The path of a file without the links in it, as in `resolveRunFolder`; null where there is no such file. */
export async function resolveRunFile(below: Below, path: string): Promise<string | null> {
  let left = path;
  for (let links = 0; links <= LINKS_MAX; links += 1) {
    const folder = await resolveFolder(below, dirname(left)).catch(() => null);
    if (folder === null) return null;
    const found = folder === '' ? basename(left) : `${folder}/${basename(left)}`;
    const next = await inFolder(below, found, async (at, name) => {
      const stats = await at.statsOf(name);
      if (stats.isSymbolicLink()) return at.linkText(name);
      return stats.isFile() ? '' : null;
    }).catch(() => null);
    if (next === null || next.startsWith('/')) return null;
    if (next === '') return found;
    left = folder === '' ? next : `${folder}/${next}`;
  }
  return null;
}

/** What a link says; empty for a folder. Rejects for anything else. */
function linkTarget(below: Below, path: string): Promise<string> {
  return inFolder(below, path, async (folder, name) => {
    const stats = await folder.statsOf(name);
    if (stats.isSymbolicLink()) return folder.linkText(name);
    if (!stats.isDirectory()) throw new Error('neither a folder nor a link');
    return '';
  });
}
