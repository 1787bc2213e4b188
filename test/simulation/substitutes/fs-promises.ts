/**
 * Files without the thread pool: each call is made at once, and its answer comes when the world says. A daemon that
 * is killed in between has done it, and does not know.
 */
import fs from 'node:fs';
import { sortedEntries, SteppedDir, SteppedFile } from './stepped-file.ts';
import { stepped } from './stepped.ts';

type Sync = (...args: unknown[]) => unknown;

function made(name: string): (...args: unknown[]) => Promise<unknown> {
  const sync = (fs as unknown as Record<string, Sync>)[`${name}Sync`];
  if (sync === undefined) throw new Error(`node:fs has no ${name}Sync`);
  return (...args) => stepped(() => sync(...args));
}

export const { constants } = fs;
export const access = made('access');
export const chmod = made('chmod');
export const chown = made('chown');
export const copyFile = made('copyFile');
export const lchown = made('lchown');
export const link = made('link');
export const lstat = made('lstat');
export const mkdir = made('mkdir');
export const mkdtemp = made('mkdtemp');
export const readFile = made('readFile');
/** Sorted: the order of a folder is that of its file system. */
export function readdir(path: string, options?: object): Promise<unknown> {
  return stepped(() => sortedEntries(fs.readdirSync(path, options as never)));
}

export const readlink = made('readlink');
export const realpath = made('realpath');
export const rename = made('rename');
export const rm = made('rm');
export const rmdir = made('rmdir');
export const stat = made('stat');
export const statfs = made('statfs');
export const symlink = made('symlink');
export const truncate = made('truncate');
export const unlink = made('unlink');
export const utimes = made('utimes');
export const writeFile = made('writeFile');
export const appendFile = made('appendFile');

export function open(path: string, flags?: string | number, mode?: number): Promise<SteppedFile> {
  return stepped(() => new SteppedFile(fs.openSync(path, flags ?? 'r', mode)));
}

export function opendir(path: string, options?: object): Promise<SteppedDir> {
  return stepped(() => new SteppedDir(fs.opendirSync(path, options as fs.OpenDirOptions)));
}
