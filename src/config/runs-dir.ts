import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account } from '../domain/jobs/account.ts';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { errorCode } from '../lib/error-code.ts';
import { type DataDirPaths, isOurs, modeText, PRIVATE_DIR_MODE, PRIVATE_FILE_MODE } from './data-dir.ts';

/** Below it are the run directories of the daemons of this machine that are root, a folder for each data directory. */
const RUNS_ROOT = '/var/lib/gatehouse-runs';
/** The account of jobs may pass through to its own run directory. It may not list the others. */
const PASSABLE_MODE = 0o711;
/** Names the data directory that the runs belong to: a daemon of another one would sweep them away. */
const MARKER = '.data-dir';
const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder others may make entries, and may not rename or remove those of root. */
const STICKY = 0o1000;

/**
 * A name for the run directories of one data directory: the last part of its path, for people, and a digest of the
 * whole path. It does not follow a data directory that is moved: what its runs left behind then stays where it was.
 */
export function instanceName(dataDir: string): string {
  const shown = basename(dataDir)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 32);
  return `${shown}-${hash('sha256', dataDir).slice(0, 12)}`;
}

/** Folders of run directories outside of data directories, of this service and of others of the machine. */
export function sharedRunsDirs(given: string | null): string[] {
  return given === null ? [RUNS_ROOT] : [RUNS_ROOT, given];
}

/** Where the run directories are, before anything is made there. */
export function runsDirOf(given: string | null, paths: DataDirPaths, account: Account | null): string {
  if (given !== null) return given;
  return account === null ? paths.runs : join(RUNS_ROOT, instanceName(paths.dir));
}

/** The default places of this data directory that are there beside the one in use, and are the daemon's own. */
export async function formerRunsDirs(paths: DataDirPaths, runsDir: string): Promise<string[]> {
  const places = [paths.runs, join(RUNS_ROOT, instanceName(paths.dir))].filter((place) => place !== runsDir);
  const stats = await Promise.all(places.map((place) => stat(place).catch(() => null)));
  return places.filter((_, at) => stats[at]?.isDirectory() === true && isOurs(stats[at]));
}

/**
 * Makes the directory that holds the run directories and answers its path without links. With an account it belongs to
 * root, and others may pass through it; otherwise it is closed to others. Throws invalid_argument that says what is
 * wrong.
 */
export async function prepareRunsDir(
  given: string | null,
  paths: DataDirPaths,
  account: Account | null,
): Promise<string> {
  const dir = runsDirOf(given, paths, account);
  if (account === null && dir === paths.runs) return dir;
  try {
    const mode = account === null ? PRIVATE_DIR_MODE : PASSABLE_MODE;
    // Before anything is made: a start that is refused leaves no folder behind.
    if (account !== null) await refuseUnfit(await realpath(await nearestFolder(dirname(dir))), account);
    await makeFolders(dir, mode);
    const resolved = await realpath(dir);
    const folder = await open(resolved, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await takeOver(folder, resolved, paths.dir, mode);
    } finally {
      await folder.close();
    }
    if (account !== null) await refuseUnfit(dirname(resolved), account);
    if (account !== null) await refuseClosed(resolved, account);
    return resolved;
  } catch (error) {
    const code = errorCode(error);
    if (code === null || error instanceof Failure) throw error;
    throw new Failure('invalid_argument', `--runs-dir: ${dir} cannot be used: ${code}.`);
  }
}

/** The path itself, or the nearest folder above it that exists. */
async function nearestFolder(path: string): Promise<string> {
  const exists = (await stat(path).catch(() => null)) !== null;
  return exists || dirname(path) === path ? path : nearestFolder(dirname(path));
}

async function makeFolders(dir: string, mode: number): Promise<void> {
  if ((await stat(dir).catch(() => null)) !== null || dirname(dir) === dir) return;
  await makeFolders(dirname(dir), mode);
  try {
    await mkdir(dir);
    // The umask may have taken bits away.
    await chmod(dir, mode);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Through the descriptor: nothing is changed but the directory that was looked at. */
async function takeOver(folder: FileHandle, path: string, dataDir: string, mode: number): Promise<void> {
  const stats = await folder.stat();
  if (!isOurs(stats) || (stats.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new Failure(
      'invalid_argument',
      `--runs-dir: ${path} belongs to user ${stats.uid} with mode ${modeText(stats.mode)}; expected the user of ` +
        'this daemon, and a mode that lets no other write.',
    );
  }
  const marker = join(path, MARKER);
  const owner = await readFile(marker, 'utf8').catch(() => null);
  // Another daemon may be making the marker at this moment, under a temporary name.
  if (owner === null && (await readdir(path)).some((name) => !name.includes(MARKER))) {
    throw new Failure(
      'invalid_argument',
      `--runs-dir: ${path} holds other things; name an empty directory or a new one.`,
    );
  }
  if (owner === null) await createExclusive(marker, `${dataDir}\n`, PRIVATE_FILE_MODE);
  const now = owner ?? (await readFile(marker, 'utf8'));
  if (now.trimEnd() !== dataDir) {
    throw new Failure(
      'invalid_argument',
      `--runs-dir: ${path} holds the runs of the data directory ${now.trimEnd()}; each data directory needs its own.`,
    );
  }
  if ((stats.mode & 0o777) !== mode) await folder.chmod(mode);
}

/** The folders above the directory. */
async function refuseUnfit(path: string, account: Account): Promise<void> {
  await refuseReplaceable(path);
  await refuseClosed(path, account);
}

/**
 * Whoever can rename a folder above it can put another one in its place, in which root then makes and gives away
 * folders.
 */
async function refuseReplaceable(path: string): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    const stats = await stat(folder);
    const isOpen = (stats.mode & WRITABLE_BY_OTHERS) !== 0 && (stats.mode & STICKY) === 0;
    if (isOpen || (stats.uid !== 0 && !isOurs(stats))) {
      throw new Failure(
        'invalid_argument',
        `--runs-dir: ${folder}, which lies above it, belongs to user ${stats.uid} with mode ` +
          `${modeText(stats.mode)}; choose a directory below folders that belong to root and that no other can ` +
          'write.',
      );
    }
    if (dirname(folder) === folder) return;
  }
}

/** The account has to get through each folder above its run directory. */
async function refuseClosed(path: string, account: Account): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) {
      throw new Failure(
        'invalid_argument',
        `--runs-dir: account ${account.name}, which jobs run as, cannot get through ${folder} (mode ` +
          `${modeText(mode)}); choose a directory below folders with mode 0711 or 0755.`,
      );
    }
    if (dirname(folder) === folder) return;
  }
}
