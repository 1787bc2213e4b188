import type { Dirent } from 'node:fs';
import { chmod, rename, rmdir, unlink } from 'node:fs/promises';
import { errorCode } from '../../lib/error-code.ts';
import { randomName } from '../../lib/random.ts';
import type { Folder, Name } from './folder.ts';

/** Entries that are removed at the same time: enough for Node's four threads, and a bound on open descriptors. */
const AT_A_TIME = 16;
/** A process that still writes there creates new entries while it lives: the next sweep continues. */
const ROUNDS_MAX = 4;
const OWNER_ALL = 0o700;

/** What `unlink` answers for a folder: Linux says EISDIR, POSIX allows EPERM. */
const FOLDER_CODES: readonly (string | null)[] = ['EISDIR', 'EPERM'];
/** What opening answers for something that is no folder. */
const NO_FOLDER_CODES: readonly (string | null)[] = ['ENOTDIR', 'ELOOP'];

/**
 * Removes trees that a hostile process may still change. Each folder is first moved into `holder`, a folder that only
 * the service can write, and emptied there through its own descriptor. So the depth of a tree costs neither descriptors
 * nor stack, no path is ever longer than two names, no link is followed, and what is a mount point stays, because the
 * kernel refuses to move it. Only the mode of folders is changed, never that of a file: a file may be a hard link to
 * another's.
 */
export class TreeRemoval {
  readonly #holder: Folder;
  readonly #isOver: () => boolean;
  readonly #prefix = randomName();
  #made = 0;
  #queue: Name[] = [];
  #failed = false;

  /** `isOver` is asked often, and ends the removal early when it answers true. */
  constructor(holder: Folder, isOver: () => boolean) {
    this.#holder = holder;
    this.#isOver = isOver;
  }

  /** Moves an entry of another folder into the holder. False when it is still where it was. */
  async take(from: Folder, name: Name): Promise<boolean> {
    try {
      await this.#move(from, name);
      return true;
    } catch (error) {
      return errorCode(error) === 'ENOENT';
    }
  }

  /** Removes all that is in the holder. False when something is left. */
  async empty(): Promise<boolean> {
    for (let round = 0; round < ROUNDS_MAX && !this.#isOver(); round += 1) {
      this.#failed = false;
      this.#queue = [];
      for await (const entry of this.#holder.entries()) this.#queue.push(entry.name);
      if (this.#queue.length === 0) return true;
      for (let name = this.#queue.pop(); name !== undefined && !this.#isOver(); name = this.#queue.pop())
        await this.#remove(name);
    }
    return !this.#failed && !this.#isOver() && (await isEmpty(this.#holder));
  }

  async #remove(name: Name): Promise<void> {
    try {
      await using folder = await this.#holder.folder(name);
      await open(folder);
      await this.#clear(folder);
    } catch (error) {
      if (NO_FOLDER_CODES.includes(errorCode(error))) return this.#attempt(() => unlink(this.#holder.at(name)));
      this.#note(errorCode(error) ?? 'unknown');
    }
    await this.#attempt(() => rmdir(this.#holder.at(name)));
  }

  /** Removes what is in a folder of the holder; folders in it that are not empty are moved into the holder. */
  async #clear(folder: Folder): Promise<void> {
    let batch: Promise<void>[] = [];
    try {
      for await (const entry of folder.entries()) {
        batch.push(this.#drop(folder, entry));
        if (batch.length < AT_A_TIME) continue;
        await Promise.all(batch);
        batch = [];
        if (this.#isOver()) break;
      }
    } finally {
      // Nothing may still be at work in the folder when it is closed.
      await Promise.all(batch);
    }
  }

  /** Never rejects. */
  async #drop(folder: Folder, entry: Dirent<Buffer>): Promise<void> {
    const path = folder.at(entry.name);
    const code = entry.isDirectory() ? 'EISDIR' : await codeOf(unlink(path));
    if (!FOLDER_CODES.includes(code)) return this.#note(code);
    const folderCode = await codeOf(rmdir(path));
    if (folderCode !== 'ENOTEMPTY') return this.#note(folderCode);
    await this.#attempt(() => this.#move(folder, entry.name));
  }

  async #move(from: Folder, name: Name): Promise<void> {
    this.#made += 1;
    const to = `${this.#prefix}-${this.#made}`;
    try {
      await rename(from.at(name), this.#holder.at(to));
    } catch (error) {
      if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error;
      // To move a folder is to write its "..": one that is closed to its owner is opened first.
      await using folder = await from.folder(name);
      await open(folder);
      await rename(from.at(name), this.#holder.at(to));
    }
    this.#queue.push(to);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#note(await codeOf(work()));
  }

  #note(code: string | null): void {
    if (code !== null && code !== 'ENOENT') this.#failed = true;
  }
}

/** Opens a folder to its owner. Where that is refused, the removal shows whether it mattered. */
async function open(folder: Folder): Promise<void> {
  const { mode } = await folder.stats();
  if ((mode & OWNER_ALL) !== OWNER_ALL) await chmod(folder.self, OWNER_ALL).catch(() => undefined);
}

async function codeOf(work: Promise<void>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}

async function isEmpty(folder: Folder): Promise<boolean> {
  for await (const _ of folder.entries()) return false;
  return true;
}
