import * as fs from 'node:fs';
import { promisify } from 'node:util';
import type { Tree } from '../../domain/sources/directory.ts';
import { callError } from '../account/as-account.ts';
import { AccountFolder } from '../run-files/account-folder.ts';
import { openTree } from './open-tree.ts';

// Calls that may wait for ever, on a network that is gone, are made in another thread.
const close = promisify(fs.close);
const open = promisify(fs.open);
const readlink = promisify(fs.readlink);
const stat = promisify(fs.stat);
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
// Not blocking: a pipe that took the place of the file would else hold its thread for ever.
const FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** One entry: `at` is how it is reached, `folder` the descriptor and `name` the name there, `path` below the root. */
export interface Place {
  readonly at: string;
  readonly folder: number;
  readonly name: string;
  readonly path: string;
}

/** Where a tree is copied from. Nothing of it is opened through a link. */
export interface CopySource extends AsyncDisposable {
  /** The root as a path. */
  readonly at: string;
  /** Whose rights are used, for a message; empty for those of this process. */
  readonly rights: string;
  /** The number of files that may be begun at once. */
  readonly filesAtOnce: number;
  /** Of the root. */
  stats(): Promise<fs.Stats>;
  /** The caller closes it. */
  openRoot(): Promise<number>;
  openFolder(place: Place): Promise<number>;
  /** Before files are opened. */
  begin(places: readonly Place[]): Promise<void> | void;
  /** The caller closes it. */
  openFile(place: Place): Promise<number>;
  /** After files that were begun are read. */
  end(): Promise<void> | void;
  linkText(place: Place): Promise<Buffer>;
}

/** Rejects as `openTree` does. A text is the path of a folder of this process. */
export async function openSource(from: string | Tree): Promise<CopySource> {
  if (typeof from === 'string') return new OwnSource(from, () => Promise.resolve());
  const folder = await openTree(from);
  if (folder instanceof AccountFolder) return new AccountSource(folder);
  return new OwnSource(`/proc/self/fd/${folder.fd}`, async () => {
    await folder[Symbol.asyncDispose]();
  });
}

/** What is at the place of the source by now. */
export async function statsNow(from: string | Tree): Promise<fs.Stats> {
  if (typeof from === 'string') return stat(from);
  await using folder = await openTree(from);
  return await folder.stats();
}

/** With the rights of this process. */
class OwnSource implements CopySource {
  readonly at: string;
  readonly rights = '';
  readonly filesAtOnce = Number.POSITIVE_INFINITY;
  readonly #close: () => Promise<void>;

  constructor(at: string, close: () => Promise<void>) {
    this.at = at;
    this.#close = close;
  }

  stats(): Promise<fs.Stats> {
    return stat(this.at);
  }

  openRoot(): Promise<number> {
    // It may be a link: that of a descriptor is one.
    return open(this.at, O_RDONLY | O_DIRECTORY);
  }

  openFolder({ at }: Place): Promise<number> {
    return open(at, FOLDER_FLAGS);
  }

  begin(): void {}

  openFile({ at }: Place): Promise<number> {
    return open(at, FILE_FLAGS);
  }

  end(): void {}

  linkText({ at }: Place): Promise<Buffer> {
    return readlink(at, 'buffer');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** With the rights of the owner of the directory: each list of calls is for many files. */
class AccountSource implements CopySource {
  readonly at: string;
  readonly rights = ' with the rights of the owner of the directory';
  readonly filesAtOnce = 64;
  readonly #folder: AccountFolder;
  readonly #begun = new Map<string, number>();

  constructor(folder: AccountFolder) {
    this.#folder = folder;
    this.at = `/proc/self/fd/${folder.fd}`;
  }

  stats(): Promise<fs.Stats> {
    return this.#folder.stats();
  }

  openRoot(): Promise<number> {
    return this.#folder.openToList();
  }

  async openFolder({ folder, name }: Place): Promise<number> {
    const [fd = -1] = await this.#folder.beside(folder).openAll([name], FOLDER_FLAGS);
    return opened(fd);
  }

  /** Files of one folder. */
  async begin(places: readonly Place[]): Promise<void> {
    const [first] = places;
    if (first === undefined) return;
    const names = places.map(({ name }) => name);
    const fds = await this.#folder.beside(first.folder).openAll(names, FILE_FLAGS);
    places.forEach(({ path }, at) => this.#begun.set(path, fds[at] ?? -1));
  }

  async openFile({ path }: Place): Promise<number> {
    const fd = this.#begun.get(path);
    if (fd === undefined) throw new Error(`the file ${path} was not begun`);
    this.#begun.delete(path);
    return opened(fd);
  }

  async end(): Promise<void> {
    const left = [...this.#begun.values()].filter((fd) => fd >= 0);
    this.#begun.clear();
    await Promise.all(left.map((fd) => close(fd)));
  }

  linkText({ folder, name }: Place): Promise<Buffer> {
    return this.#folder.beside(folder).linkBytes(name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#folder[Symbol.asyncDispose]();
  }
}

function opened(fd: number): number {
  if (fd < 0) throw callError(fd, 'opening');
  return fd;
}
