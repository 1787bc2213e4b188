import * as fs from 'node:fs';
import { chmod, lstat, mkdir, opendir, readlink, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode } from '../../lib/error-code.ts';
import type { Entry, Folder, Name } from './folder.ts';
import { FOLDER_FLAGS, OWN_FOLDER_FLAGS } from './folder-flags.ts';
import { checkName } from './names.ts';
import { OpenFile } from './open-file.ts';

const open = promisify(fs.open);
const close = promisify(fs.close);
const fstat = promisify(fs.fstat);

/** Entries that one call reads: more memory for each folder buys no more speed. */
const ENTRIES_AT_A_TIME = 256;

/**
 * A folder that is used with the rights of this process. An entry is addressed as `/proc/self/fd/<descriptor>/<name>`,
 * which the kernel resolves from the open folder itself, as `openat` and `unlinkat` do.
 */
export class OwnFolder implements Folder {
  readonly fd: number;
  /** Enough for Node's four threads, and a bound on the work that an end waits for. */
  readonly dropsAtOnce = 16;

  constructor(fd: number) {
    this.fd = fd;
  }

  async folder(name: Name): Promise<OwnFolder> {
    return new OwnFolder(await open(this.#at(name), FOLDER_FLAGS));
  }

  async file(name: Name, flags: number, mode?: number): Promise<OpenFile> {
    const { O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    return new OpenFile(await open(this.#at(name), flags | O_NOFOLLOW | O_NONBLOCK, mode));
  }

  stats(): Promise<fs.Stats> {
    return fstat(this.fd);
  }

  setMode(mode: number): Promise<void> {
    return chmod(pathOf(this), mode);
  }

  async statsOf(name: Name): Promise<fs.BigIntStats> {
    return lstat(this.#at(name), { bigint: true });
  }

  async linkText(name: Name): Promise<string> {
    return readlink(this.#at(name));
  }

  async makeFolder(name: Name, mode: number): Promise<void> {
    await mkdir(this.#at(name), { mode });
  }

  /** At once: one look at a folder that is in memory. */
  has(name: string): boolean {
    return fs.existsSync(this.#at(name));
  }

  async unlink(name: Name): Promise<void> {
    await unlink(this.#at(name));
  }

  async removeFolder(name: Name): Promise<void> {
    await rmdir(this.#at(name));
  }

  drop(entries: readonly Entry[]): Promise<(string | null)[]> {
    return Promise.all(
      entries.map(async ({ name, isFolder }) => {
        try {
          await (isFolder ? rmdir : unlink)(this.#at(name));
          return null;
        } catch (error) {
          return errorCode(error) ?? 'unknown';
        }
      }),
    );
  }

  async move(name: Name, to: Folder, newName: Name): Promise<void> {
    await rename(this.#at(name), entryOf(to, newName));
  }

  async *entries(): AsyncGenerator<Entry> {
    // With the encoding `buffer`, which the types do not know here, the names are Buffers.
    const how = { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_AT_A_TIME };
    for await (const entry of await opendir(pathOf(this), how))
      yield { name: entry.name as unknown as Buffer, isFolder: entry.isDirectory() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.fd);
  }

  /** For a call that does not follow the last name: `unlink`, `rename`, `lstat`, or `open` with O_NOFOLLOW. */
  #at(name: Name): Name {
    return entryOf(this, name);
  }
}

/** The folder itself, whatever it is called by now. */
function pathOf({ fd }: Pick<Folder, 'fd'>): string {
  return `/proc/self/fd/${fd}`;
}

function entryOf(folder: Pick<Folder, 'fd'>, name: Name): Name {
  checkName(name);
  const path = pathOf(folder);
  return typeof name === 'string' ? `${path}/${name}` : Buffer.concat([Buffer.from(`${path}/`), name]);
}

/**
 * Opens a folder that only the service can rename or replace, such as the one that holds all run directories. Rejects
 * where `/proc` is missing: without it nothing of a run can be reached safely.
 */
export async function openOwnFolder(path: string): Promise<OwnFolder> {
  const folder = new OwnFolder(await open(path, OWN_FOLDER_FLAGS));
  try {
    requireSame(...(await Promise.all([folder.stats(), stat(pathOf(folder)).catch(() => undefined)])));
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same at once: asynchronous calls change threads for each, which costs more than they do. */
export function openOwnFolderAtOnce(path: string): OwnFolder {
  const fd = fs.openSync(path, OWN_FOLDER_FLAGS);
  try {
    requireSame(fs.fstatSync(fd), fs.statSync(pathOf({ fd }), { throwIfNoEntry: false }));
    return new OwnFolder(fd);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** For a few short calls that are made at once. `use` gets the function that addresses an entry. */
export function inOwnFolder<T>(path: string, use: (at: (name: string) => string) => T): T {
  const { fd } = openOwnFolderAtOnce(path);
  try {
    return use((name) => {
      checkName(name);
      return `${pathOf({ fd })}/${name}`;
    });
  } finally {
    fs.closeSync(fd);
  }
}

function requireSame(here: fs.Stats, there: fs.Stats | undefined): void {
  if (there?.ino !== here.ino || there.dev !== here.dev)
    throw new Error('/proc is not mounted: the files of a run cannot be reached safely without it');
}
