import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account } from '../domain/jobs/account.ts';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { errorCode } from '../lib/error-code.ts';
import { type DataDirPaths, isOurs, modeText, PRIVATE_DIR_MODE, PRIVATE_FILE_MODE } from './data-dir.ts';
import { refuseSetting } from './settings/refuse-setting.ts';

/** Holds the run directories of daemons whose jobs run as another account, one folder per data directory. */
const RUNS_ROOT = '/var/lib/gatehouse-runs';
/** The job account may enter its own run directory. It may not list the others. */
const PASSABLE_MODE = 0o711;
/** Names the data directory of the runs: a daemon of another one would delete them. */
const MARKER = '.data-dir';
const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder others may create entries, but not rename or remove those of root. */
const STICKY = 0o1000;
const FLAG = 'runs-dir';

/**
 * A name for the run directories of one data directory: the last part of its path, for people, and a digest of the
 * whole path. It changes when the data directory is moved: leftovers of its runs then stay in the old place.
 */
export function instanceName(dataDir: string): string {
  const shown = basename(dataDir)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 32);
  return `${shown}-${hash('sha256', dataDir).slice(0, 12)}`;
}

/** The folders outside data directories that hold run directories of any Gatehouse on this machine. */
export function sharedRunsDirs(given: string | null): string[] {
  return given === null ? [RUNS_ROOT] : [RUNS_ROOT, given];
}

/** The path of the run directories; nothing is created. */
export function runsDirOf(given: string | null, paths: DataDirPaths, account: Account | null): string {
  if (given !== null) return given;
  return account === null ? paths.runs : join(RUNS_ROOT, instanceName(paths.dir));
}

/** Existing default places of this data directory other than the one in use, if they belong to the daemon. */
export async function formerRunsDirs(paths: DataDirPaths, runsDir: string): Promise<string[]> {
  const places = [paths.runs, join(RUNS_ROOT, instanceName(paths.dir))].filter((place) => place !== runsDir);
  const stats = await Promise.all(places.map((place) => stat(place).catch(() => null)));
  return places.filter((_, at) => stats[at]?.isDirectory() === true && isOurs(stats[at]));
}

/**
 * Creates the directory of the run directories and returns its path without links. With an account it belongs to root
 * and others may pass through it; otherwise it is closed to others. Throws invalid_argument.
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
    // Check first: a refused start must leave no folder.
    if (account !== null) await refuseUnfit(await realpath(await nearestFolder(dirname(dir))), account);
    await makeFolders(dir, mode);
    const resolved = await realpath(dir);
    const folder = await open(resolved, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await takeOver(folder, resolved, paths.dir, mode);
    } finally {
      await folder.close();
    }
    if (account !== null) {
      await refuseReplaceable(dirname(resolved));
      await refuseClosed(resolved, account);
    }
    return resolved;
  } catch (error) {
    const code = errorCode(error);
    if (code === null || error instanceof Failure) throw error;
    const advice =
      account === null || code !== 'EACCES'
        ? ''
        : `; create ${dirname(dir)} as a directory of this account with mode 0711, or name another directory`;
    return refuseSetting(FLAG, `${dir} cannot be used: ${code}${advice}`);
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
    // The umask may have removed bits.
    await chmod(dir, mode);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Through the descriptor, so that only the checked directory is changed. */
async function takeOver(folder: FileHandle, path: string, dataDir: string, mode: number): Promise<void> {
  const stats = await folder.stat();
  if (!isOurs(stats) || (stats.mode & WRITABLE_BY_OTHERS) !== 0) {
    refuseSetting(
      FLAG,
      `${path} belongs to user ${stats.uid} with mode ${modeText(stats.mode)}; expected the user of this daemon, and ` +
        'a mode that lets no other user write',
    );
  }
  const marker = join(path, MARKER);
  const owner = await readFile(marker, 'utf8').catch(() => null);
  // Another daemon may be creating the marker now, under a temporary name.
  if (owner === null && (await readdir(path)).some((name) => !name.includes(MARKER)))
    refuseSetting(FLAG, `${path} holds other things; name an empty directory or a new one`);
  if (owner === null) await createExclusive(marker, `${dataDir}\n`, PRIVATE_FILE_MODE);
  const now = (owner ?? (await readFile(marker, 'utf8'))).trimEnd();
  if (now !== dataDir)
    refuseSetting(FLAG, `${path} holds the runs of the data directory ${now}; each data directory needs its own`);
  if ((stats.mode & 0o777) !== mode) await folder.chmod(mode);
}

/** The folder and all above it. */
function* upwards(path: string): Generator<string> {
  yield path;
  if (dirname(path) !== path) yield* upwards(dirname(path));
}

/** The folders above the directory. */
async function refuseUnfit(path: string, account: Account): Promise<void> {
  await refuseReplaceable(path);
  await refuseClosed(path, account);
}

/** Who can rename a parent folder can replace it, and root would create folders there and give them away. */
async function refuseReplaceable(path: string): Promise<void> {
  for (const folder of upwards(path)) {
    const stats = await stat(folder);
    const isOpen = (stats.mode & WRITABLE_BY_OTHERS) !== 0 && (stats.mode & STICKY) === 0;
    if (isOpen || (stats.uid !== 0 && !isOurs(stats))) {
      refuseSetting(
        FLAG,
        `the parent folder ${folder} belongs to user ${stats.uid} with mode ${modeText(stats.mode)}; choose a ` +
          'directory whose parents belong to root and that no other user can write',
      );
    }
  }
}

/** The account must be able to enter each parent of its run directory. */
async function refuseClosed(path: string, account: Account): Promise<void> {
  for (const folder of upwards(path)) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) {
      refuseSetting(
        FLAG,
        `the job account ${account.name} cannot enter ${folder} (mode ${modeText(mode)}); choose a directory whose ` +
          'parents have mode 0711 or 0755',
      );
    }
  }
}
