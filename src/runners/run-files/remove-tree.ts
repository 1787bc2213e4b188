import { errorCode } from '../../lib/error-code.ts';
import { randomName } from '../../lib/random.ts';
import type { Entry, Folder, Name } from './folder.ts';

/** A process that still writes there creates new entries while it lives: the next sweep continues. */
const ROUNDS_MAX = 4;
const OWNER_ALL = 0o700;

/** What `unlink` answers for a folder: Linux says EISDIR, POSIX allows EPERM. */
const FOLDER_CODES: readonly (string | null)[] = ['EISDIR', 'EPERM'];
/** What opening answers for something that is no folder. */
const NO_FOLDER_CODES: readonly (string | null)[] = ['ENOTDIR', 'ELOOP'];

/**
 * Removes trees that a hostile process may still change. Each folder is first moved into `holder` and emptied there
 * through its own descriptor. So the depth of a tree costs neither descriptors nor stack, no path is ever longer than
 * two names, no link is followed, and what is a mount point stays, because the kernel refuses to move it. Only the mode
 * of folders is changed, never that of a file: a file may be a hard link to another's.
 *
 * The holder is a folder that only the service can write, or the top of the tree of an account: then everything is done
 * with the rights of that account.
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
      await open(this.#holder);
      await this.#clear(this.#holder);
      for (let name = this.#queue.pop(); name !== undefined && !this.#isOver(); name = this.#queue.pop())
        await this.#remove(name);
      if (!this.#failed && !this.#isOver() && (await isEmpty(this.#holder))) return true;
    }
    return false;
  }

  async #remove(name: Name): Promise<void> {
    try {
      await using folder = await this.#holder.folder(name);
      await open(folder);
      await this.#clear(folder);
    } catch (error) {
      if (NO_FOLDER_CODES.includes(errorCode(error))) return this.#attempt(() => this.#holder.unlink(name));
      this.#note(errorCode(error) ?? 'unknown');
    }
    await this.#attempt(() => this.#holder.removeFolder(name));
  }

  /** Removes what is in a folder; folders in it that are not empty go into the holder, to be removed later. */
  async #clear(folder: Folder): Promise<void> {
    let batch: Entry[] = [];
    for await (const entry of folder.entries()) {
      batch.push(entry);
      if (batch.length < folder.dropsAtOnce) continue;
      await this.#drop(folder, batch);
      batch = [];
      if (this.#isOver()) return;
    }
    await this.#drop(folder, batch);
  }

  async #drop(folder: Folder, entries: readonly Entry[]): Promise<void> {
    const wasFolder: Entry[] = [];
    const full: Entry[] = [];
    const note = (entry: Entry, code: string | null): void => {
      if (code === 'ENOTEMPTY' || code === 'EEXIST') full.push(entry);
      else if (!entry.isFolder && FOLDER_CODES.includes(code)) wasFolder.push({ ...entry, isFolder: true });
      else this.#note(code);
    };
    const codes = await dropped(folder, entries);
    entries.forEach((entry, at) => note(entry, codes[at] ?? null));
    const again = await dropped(folder, wasFolder);
    wasFolder.forEach((entry, at) => note(entry, again[at] ?? null));
    if (folder === this.#holder) this.#queue.push(...full.map(({ name }) => name));
    else for (const { name } of full) await this.#attempt(() => this.#move(folder, name));
  }

  async #move(from: Folder, name: Name): Promise<void> {
    this.#made += 1;
    const to = `${this.#prefix}-${this.#made}`;
    try {
      await from.move(name, this.#holder, to);
    } catch (error) {
      if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error;
      // To move a folder is to write its "..": one that is closed to its owner is opened first.
      await using folder = await from.folder(name);
      await open(folder);
      await from.move(name, this.#holder, to);
    }
    this.#queue.push(to);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#note(errorCode(error) ?? 'unknown');
    }
  }

  #note(code: string | null): void {
    if (code !== null && code !== 'ENOENT') this.#failed = true;
  }
}

/** Opens a folder to its owner. Where that is refused, the removal shows whether it mattered. */
async function open(folder: Folder): Promise<void> {
  const { mode } = await folder.stats();
  if ((mode & OWNER_ALL) !== OWNER_ALL) await folder.setMode(OWNER_ALL).catch(() => undefined);
}

async function dropped(folder: Folder, entries: readonly Entry[]): Promise<(string | null)[]> {
  return entries.length === 0 ? [] : folder.drop(entries);
}

async function isEmpty(folder: Folder): Promise<boolean> {
  for await (const _ of folder.entries()) return false;
  return true;
}
