import type { Stats } from 'node:fs';
import { access, chmod, constants, lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { errorCode } from '../lib/error-code.ts';
import { requireClosed } from './settings/deciding-files.ts';
import { refuseSetting } from './settings/refuse-setting.ts';
import type { Settings } from './settings/settings.ts';

const FLAG = 'data-dir';
/** Only the user of the service may read the data directory and its content. */
export const PRIVATE_DIR_MODE = 0o700;
export const PRIVATE_FILE_MODE = 0o600;

/** The mode bits that give others than the owner access. */
const OTHERS = 0o077;

export interface DataDirEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory';
  /** The setting that may name another place for it. */
  readonly setting?: { [K in keyof Settings]: Settings[K] extends string | null ? K : never }[keyof Settings];
}

/** The content of the data directory. `serve` and `web` create its folders; files are created when first written. */
export const DATA_DIR_ENTRIES = {
  database: { name: 'gatehouse.db', kind: 'file' },
  sealKey: { name: 'seal.key', kind: 'file', setting: 'sealKeyFile' },
  /** One folder per run: its working directory. */
  runs: { name: 'runs', kind: 'directory' },
  /** One file per daemon, locked while the daemon lives. */
  instances: { name: 'instances', kind: 'directory' },
  /** One folder per source, with one folder per commit. */
  sources: { name: 'sources', kind: 'directory' },
  /** One file per backup. */
  backups: { name: 'backups', kind: 'directory', setting: 'backupDir' },
} as const satisfies Record<string, DataDirEntry>;

/** Absolute paths. */
export type DataDirPaths = { readonly dir: string } & { readonly [K in keyof typeof DATA_DIR_ENTRIES]: string };

export function dataDirPaths(dir: string): DataDirPaths {
  const paths = Object.entries(DATA_DIR_ENTRIES).map(([key, { name }]) => [key, join(dir, name)]);
  return { dir, ...(Object.fromEntries(paths) as Omit<DataDirPaths, 'dir'>) };
}

/** The folders of a data directory, by their names. */
export function foldersIn(dir: string): readonly { readonly name: string; readonly path: string }[] {
  return Object.values(DATA_DIR_ENTRIES).flatMap(({ name, kind }) =>
    kind === 'directory' ? [{ name, path: join(dir, name) }] : [],
  );
}

/** True when others than the owner have any right. */
export function isOpenToOthers(mode: number): boolean {
  return (mode & OTHERS) !== 0;
}

/** The last three octal digits, as chmod takes them. */
export function modeText(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`;
}

/** True for files of this user. Files of root are foreign to any other user, who cannot change their mode. */
export function isOurs(stats: Pick<Stats, 'uid'>): boolean {
  const self = process.geteuid?.();
  return self === undefined || stats.uid === self;
}

/**
 * Creates the data directory and its folders, or uses existing ones, and closes them to other users. The returned paths
 * have their links resolved, because the sandbox compares paths. Throws invalid_argument with the cause, for root also
 * where another account can change the path as given; and unavailable for faults of the disk.
 */
export async function prepareDataDir(dir: string): Promise<DataDirPaths> {
  try {
    await makeDir(dir);
    requireClosed({ flag: FLAG, path: dir });
    const resolved = await realpath(dir);
    await takeOver(resolved, dir);
    const paths = dataDirPaths(resolved);
    for (const { path: folder } of foldersIn(resolved)) {
      await makeOne(folder);
      if ((await lstat(folder)).isSymbolicLink()) requireClosed({ flag: FLAG, path: folder });
      await tighten(folder, await ownDirectory(folder));
    }
    return paths;
  } catch (error) {
    const code = errorCode(error);
    if (code === null || error instanceof Failure) throw error;
    if (TROUBLE.has(code)) throw new Failure('unavailable', `The data directory ${dir} cannot be used: ${code}.`);
    return refuseSetting(FLAG, `${dir} cannot be used: ${REASONS[code] ?? code}`);
  }
}

/**
 * Not `recursive`: it never ends where a folder cannot be created in an existing parent, as in /proc. Each folder is
 * looked at before one is made in it: root makes none in a place to which another account leads it.
 */
async function makeDir(dir: string): Promise<void> {
  if ((await unlessMissing(lstat(dir))) !== null) return;
  if (dirname(dir) !== dir) await makeDir(dirname(dir));
  requireClosed({ flag: FLAG, path: dir, isMade: true });
  await makeOne(dir);
}

/** Null where nothing is at the path. */
async function unlessMissing(stats: Promise<Stats>): Promise<Stats | null> {
  try {
    return await stats;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The folder may exist, or another process may create it at the same moment. */
async function makeOne(dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: PRIVATE_DIR_MODE });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

async function takeOver(path: string, asGiven: string): Promise<void> {
  const stats = await ownDirectory(path);
  // Closing /tmp or a home directory, named by mistake, would lock out all other users.
  if (isOpenToOthers(stats.mode) && !(await isEmptyOrOurs(path))) {
    refuseSetting(
      FLAG,
      `${asGiven} is open to other users and holds other things: name an empty directory or a new one`,
    );
  }
  await tighten(path, stats);
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
}

async function ownDirectory(path: string): Promise<Stats> {
  const stats = await stat(path);
  if (!stats.isDirectory()) refuseSetting(FLAG, `${path} is not a directory`);
  if (!isOurs(stats)) {
    const self = process.geteuid?.() ?? 'unknown';
    refuseSetting(FLAG, `${path} belongs to user ${stats.uid}, and this process runs as user ${self}`);
  }
  return stats;
}

async function tighten(path: string, stats: Stats): Promise<void> {
  if (isOpenToOthers(stats.mode) || (stats.mode & PRIVATE_DIR_MODE) !== PRIVATE_DIR_MODE)
    await chmod(path, PRIVATE_DIR_MODE);
}

/** Other folders have entries of these names too: /var has one for backups. Only all folders, or a file, are ours. */
async function isEmptyOrOurs(path: string): Promise<boolean> {
  // A new file system contains lost+found.
  const names = (await readdir(path)).filter((name) => name !== 'lost+found');
  if (names.length === 0) return true;
  const paths = dataDirPaths(path);
  const files = await Promise.all([paths.database, paths.sealKey].map(ownEntry));
  if (files.some((file) => file?.isFile() === true)) return true;
  const folders = await Promise.all(foldersIn(path).map((folder) => ownEntry(folder.path)));
  return folders.every((folder) => folder?.isDirectory() === true);
}

async function ownEntry(path: string): Promise<Stats | null> {
  const stats = await unlessMissing(lstat(path));
  return stats !== null && isOurs(stats) ? stats : null;
}

/** System errors that are faults of the machine, not of the argument. */
const TROUBLE = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']);

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not access it',
  EPERM: 'this user may not change it',
  EROFS: 'it is on a read-only file system',
  EEXIST: 'it is not a directory',
  ENOENT: 'it cannot be made there',
  ENOTDIR: 'a part of the path is not a directory',
  ELOOP: 'its links form a loop',
  ENAMETOOLONG: 'the path is too long',
};
