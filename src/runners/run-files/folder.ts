import { closeSync, constants, type Dirent, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { open, opendir, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { FOLDER_FLAGS, OWN_FOLDER_FLAGS } from './folder-flags.ts';

/**
 * Folders of a run, each held open by a descriptor. Programs of the run may exchange any name below the run directory
 * at any time, also after their job has ended. A path through such names is therefore never used: an entry is addressed
 * as `/proc/self/fd/<descriptor of its folder>/<one name>`, which the kernel resolves from the open folder itself, as
 * `openat` and `unlinkat` do. The last name is never followed when it is a link.
 *
 * An operation on an entry must have settled before its folder is closed: the number of a closed descriptor is used
 * again, for another folder.
 */

/** One name of a folder. A name that is not UTF-8 is a Buffer. */
export type Name = string | Buffer;

const SLASH = 0x2f;

export class Folder implements AsyncDisposable {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The folder itself, whatever it is called by now. */
  get self(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }

  /** For a call that does not follow the last name: `unlink`, `rename`, `lstat`, or `open` with O_NOFOLLOW. */
  at(name: Name): Name {
    if (!isOneName(name)) throw new Error('expected the name of one entry');
    return typeof name === 'string' ? `${this.self}/${name}` : Buffer.concat([Buffer.from(`${this.self}/`), name]);
  }

  /** Opens a folder in it. Rejects with ENOTDIR for a link and for anything else. */
  async folder(name: Name): Promise<Folder> {
    return new Folder(await open(this.at(name), FOLDER_FLAGS));
  }

  /** Opens a file in it; never a link, and never waits for the other end of a pipe. */
  file(name: Name, flags: number, mode?: number): Promise<FileHandle> {
    return open(this.at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  }

  stats(): Promise<Stats> {
    return this.#handle.stat();
  }

  /** Its entries, read lazily. Names are Buffers. The type is a hint: the entry may be exchanged at once. */
  async *entries(): AsyncGenerator<Dirent<Buffer>> {
    // With the encoding `buffer`, which the types do not know here, the names are Buffers.
    const listing = await opendir(this.self, { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_AT_A_TIME });
    for await (const entry of listing) yield entry as unknown as Dirent<Buffer>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** Entries that one call reads: more memory for each folder buys no more speed. */
const ENTRIES_AT_A_TIME = 256;

function isOneName(name: Name): boolean {
  const hasSlash = typeof name === 'string' ? name.includes('/') : name.includes(SLASH);
  return name.length > 0 && !hasSlash && !['.', '..'].includes(name.toString());
}

/**
 * Opens a folder that only the service can rename or replace, such as the one that holds all run directories. Rejects
 * where `/proc` is missing: without it nothing of a run can be reached safely.
 */
export async function openOwnFolder(path: string): Promise<Folder> {
  const handle = await open(path, OWN_FOLDER_FLAGS);
  const folder = new Folder(handle);
  try {
    requireSame(...(await Promise.all([handle.stat(), stat(folder.self).catch(() => undefined)])));
    return folder;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The same for a few short calls that are made at once: the asynchronous ones change threads for each, which costs more
 * than they do. `use` gets the function that addresses an entry.
 */
export function inOwnFolder<T>(path: string, use: (at: (name: string) => string) => T): T {
  const fd = openSync(path, OWN_FOLDER_FLAGS);
  try {
    const self = `/proc/self/fd/${fd}`;
    requireSame(fstatSync(fd), statSync(self, { throwIfNoEntry: false }));
    return use((name) => `${self}/${name}`);
  } finally {
    closeSync(fd);
  }
}

function requireSame(here: Stats, there: Stats | undefined): void {
  if (there?.ino !== here.ino || there.dev !== here.dev)
    throw new Error('/proc is not mounted: the files of a run cannot be reached safely without it');
}

/** Opens the directory of a run, which is in a folder of the service. */
export async function openRunDir(runDir: string): Promise<Folder> {
  await using parent = await openOwnFolder(dirname(runDir));
  return await parent.folder(basename(runDir));
}
