import * as fs from 'node:fs';
import { getSystemErrorName, promisify } from 'node:util';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { O_PATH } from '../../lib/files/open-path.ts';
import { asAccount, callError, type FileCalls } from '../account/as-account.ts';
import type { Entry, Folder, Name } from './folder.ts';
import { FOLDER_FLAGS } from './folder-flags.ts';
import { checkName } from './names.ts';
import { OpenFile } from './open-file.ts';

const close = promisify(fs.close);
const fstat = promisify(fs.fstat);
const fstatBig = promisify(
  (fd: number, done: (error: NodeJS.ErrnoException | null, stats: fs.BigIntStats) => void): void =>
    fs.fstat(fd, { bigint: true }, done),
);

const AT_FDCWD = -100;
const AT_REMOVEDIR = 0x200;
const O_CLOEXEC = 0o2000000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
/** A name has at most 255 bytes, and a list has room for as many. */
export const CALLS_AT_ONCE = 500;
/** The kernel follows no longer link. */
const LINK_BYTES_MAX = 4096;
const LISTING_BYTES = 32 * 1024;
/** struct linux_dirent64. */
const [LENGTH_AT, TYPE_AT, NAME_AT] = [16, 18, 19];
const DT_DIR = 4;

/** A folder of an account, used with the rights of that account: see `asAccount`. */
export class AccountFolder implements Folder {
  readonly fd: number;
  readonly dropsAtOnce = CALLS_AT_ONCE;
  readonly #account: AccountIds;

  constructor(fd: number, account: AccountIds) {
    this.fd = fd;
    this.#account = account;
  }

  async folder(name: Name): Promise<AccountFolder> {
    checkName(name);
    return new AccountFolder(await this.#open(name, FOLDER_FLAGS), this.#account);
  }

  async file(name: Name, flags: number, mode = 0): Promise<OpenFile> {
    checkName(name);
    return new OpenFile(await this.#open(name, flags | O_NOFOLLOW | O_NONBLOCK, mode));
  }

  stats(): Promise<fs.Stats> {
    return fstat(this.fd);
  }

  async setMode(mode: number): Promise<void> {
    const path = `/proc/self/fd/${this.fd}`;
    await this.#one('changing a mode', (calls) => calls.add('fchmodat', AT_FDCWD, calls.text(path), mode));
  }

  async statsOf(name: Name): Promise<fs.BigIntStats> {
    checkName(name);
    const fd = await this.#open(name, O_PATH | O_NOFOLLOW);
    try {
      return await fstatBig(fd);
    } finally {
      await close(fd);
    }
  }

  async linkText(name: Name): Promise<string> {
    return (await this.linkBytes(name)).toString('utf8');
  }

  /** The text of a link, which need not be UTF-8. */
  linkBytes(name: Name): Promise<Buffer> {
    checkName(name);
    let text: Buffer = Buffer.alloc(0);
    return asAccount(
      this.#account,
      (calls) => {
        const { address, bytes } = calls.room(LINK_BYTES_MAX);
        text = bytes;
        calls.add('readlinkat', this.fd, calls.text(name), address, LINK_BYTES_MAX);
      },
      ([length = 0]) => {
        if (length < 0) throw callError(length, 'reading a link');
        return Buffer.from(text.subarray(0, length));
      },
    );
  }

  async makeFolder(name: Name, mode: number): Promise<void> {
    checkName(name);
    await this.#one('creating a folder', (calls) => calls.add('mkdirat', this.fd, calls.text(name), mode));
  }

  unlink(name: Name): Promise<void> {
    return this.#unlink(name, 0);
  }

  removeFolder(name: Name): Promise<void> {
    return this.#unlink(name, AT_REMOVEDIR);
  }

  async drop(entries: readonly Entry[]): Promise<(string | null)[]> {
    const results = await this.#all((calls) => {
      for (const { name, isFolder } of entries)
        calls.add('unlinkat', this.fd, calls.text(name), isFolder ? AT_REMOVEDIR : 0);
    });
    return results.map((result) => (result < 0 ? getSystemErrorName(result) : null));
  }

  async move(name: Name, to: Folder, newName: Name): Promise<void> {
    checkName(name);
    checkName(newName);
    await this.#one('moving an entry', (calls) =>
      calls.add('renameat2', this.fd, calls.text(name), to.fd, calls.text(newName), 0),
    );
  }

  async *entries(): AsyncGenerator<Entry> {
    const fd = await this.openToList();
    try {
      for (;;) {
        const found = await this.#list(fd);
        if (found.length === 0) return;
        yield* found;
      }
    } finally {
      await close(fd);
    }
  }

  /** The folder itself, open for reading its entries. The caller closes it. */
  openToList(): Promise<number> {
    return this.#open('.', O_RDONLY | O_DIRECTORY);
  }

  /** Opens entries. Each result is a descriptor, which the caller closes, or an error below zero. */
  openAll(names: readonly Name[], flags: number): Promise<readonly number[]> {
    names.forEach(checkName);
    return this.#all((calls) => {
      for (const name of names) calls.add('openat', this.fd, calls.text(name), flags | O_NOFOLLOW | O_CLOEXEC);
    });
  }

  /** Another folder that is open, used with the same rights. Who opened it closes it. */
  beside(fd: number): AccountFolder {
    return new AccountFolder(fd, this.#account);
  }

  /** Creates folders below it, each after the one that holds it. Paths must not lead through what a job may change. */
  async makeFolders(paths: readonly string[], mode: number): Promise<void> {
    const results = await this.#all((calls) => {
      for (const path of paths) calls.add('mkdirat', this.fd, calls.text(path), mode);
    });
    refuseErrors(results, 'creating a folder');
  }

  /** Creates files below it and opens them for writing. As for the paths, see `makeFolders`. */
  async newFiles(paths: readonly string[], mode: number): Promise<number[]> {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const fds = await this.#all((calls) => {
      for (const path of paths) calls.add('openat', this.fd, calls.text(path), flags, mode);
    });
    try {
      refuseErrors(fds, 'creating a file');
    } catch (error) {
      await Promise.all(fds.filter((fd) => fd >= 0).map((fd) => close(fd)));
      throw error;
    }
    return [...fds];
  }

  /** As for the paths, see `makeFolders`. */
  async setModes(paths: readonly string[], mode: number): Promise<void> {
    const results = await this.#all((calls) => {
      for (const path of paths) calls.add('fchmodat', this.fd, calls.text(path), mode);
    });
    refuseErrors(results, 'changing a mode');
  }

  /** As for the path, see `makeFolders`. */
  async makeLink(path: string, target: string): Promise<void> {
    await this.#one('creating a link', (calls) =>
      calls.add('symlinkat', calls.text(target), this.fd, calls.text(path)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.fd);
  }

  #open(name: Name, flags: number, mode = 0): Promise<number> {
    return this.#one('opening', (calls) => calls.add('openat', this.fd, calls.text(name), flags | O_CLOEXEC, mode));
  }

  async #unlink(name: Name, flags: number): Promise<void> {
    checkName(name);
    await this.#one('removing an entry', (calls) => calls.add('unlinkat', this.fd, calls.text(name), flags));
  }

  #list(fd: number): Promise<Entry[]> {
    let listing: Buffer = Buffer.alloc(0);
    return asAccount(
      this.#account,
      (calls) => {
        const { address, bytes } = calls.room(LISTING_BYTES);
        listing = bytes;
        calls.add('getdents64', fd, address, LISTING_BYTES);
      },
      ([length = 0]) => {
        if (length < 0) throw callError(length, 'listing a folder');
        return [...entriesIn(listing.subarray(0, length))];
      },
    );
  }

  #all(add: (calls: FileCalls) => void): Promise<readonly number[]> {
    return asAccount(this.#account, add, (results) => results);
  }

  async #one(what: string, add: (calls: FileCalls) => void): Promise<number> {
    const results = await this.#all(add);
    refuseErrors(results, what);
    return results[0] ?? 0;
  }
}

function refuseErrors(results: readonly number[], what: string): void {
  const failed = results.find((result) => result < 0);
  if (failed !== undefined) throw callError(failed, what);
}

function* entriesIn(listing: Buffer): Generator<Entry> {
  for (let at = 0; at < listing.length; at += listing.readUInt16LE(at + LENGTH_AT)) {
    const name = listing.subarray(at + NAME_AT, listing.indexOf(0, at + NAME_AT));
    const isSpecial = name.equals(HERE) || name.equals(ABOVE);
    if (!isSpecial) yield { name: Buffer.from(name), isFolder: listing[at + TYPE_AT] === DT_DIR };
  }
}

const HERE = Buffer.from('.');
const ABOVE = Buffer.from('..');
