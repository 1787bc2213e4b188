import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { AccountFolder, CALLS_AT_ONCE } from '../run-files/account-folder.ts';
import { openRunFolder } from '../run-files/run-files.ts';

const close = promisify(fs.close);
const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const PROGRAM_MODE = 0o700;

/** Where a tree is copied to: an empty folder, in which nothing else is at work. Paths are relative to it. */
export interface CopyTarget extends AsyncDisposable {
  /** The number of files that may be begun at once. */
  readonly filesAtOnce: number;
  makeFolders(paths: readonly string[]): Promise<void> | void;
  /** Before files are opened. */
  begin(paths: readonly string[]): Promise<void> | void;
  /** A new file, for writing. The caller closes it. */
  open(path: string, executable: boolean): number;
  /** After files that were begun are written. */
  end(): Promise<void> | void;
  makeLink(path: string, target: string): Promise<void> | void;
}

/** A folder below the directory of a run. What is made in it belongs to the owner of that directory. */
export async function openCopyTarget(runDir: string, path: string): Promise<CopyTarget> {
  const folder = await openRunFolder(runDir, path);
  if (folder instanceof AccountFolder) return new AccountTarget(folder);
  await folder[Symbol.asyncDispose]();
  return new OwnTarget(`${runDir}/${path}`);
}

/** A folder of this process. Its calls are synchronous, which for a few small files is faster, see copyTree. */
export class OwnTarget implements CopyTarget {
  readonly filesAtOnce = Number.POSITIVE_INFINITY;
  readonly #to: string;

  constructor(to: string) {
    this.#to = to;
  }

  makeFolders(paths: readonly string[]): void {
    for (const path of paths) fs.mkdirSync(`${this.#to}/${path}`, { mode: FOLDER_MODE });
  }

  begin(): void {}

  open(path: string, executable: boolean): number {
    return fs.openSync(`${this.#to}/${path}`, O_WRONLY | O_CREAT | O_EXCL, executable ? PROGRAM_MODE : FILE_MODE);
  }

  end(): void {}

  makeLink(path: string, target: string): void {
    fs.symlinkSync(target, `${this.#to}/${path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** For the digest of a tree alone: nothing is kept. */
export class NoTarget implements CopyTarget {
  readonly filesAtOnce = Number.POSITIVE_INFINITY;

  makeFolders(): void {}

  begin(): void {}

  open(): number {
    return fs.openSync('/dev/null', O_WRONLY);
  }

  end(): void {}

  makeLink(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** A folder of another account: each list of calls is for many entries. */
class AccountTarget implements CopyTarget {
  /** Each is open at the same time as the others. */
  readonly filesAtOnce = 64;
  readonly #folder: AccountFolder;
  #begun = new Map<string, number>();
  #programs: string[] = [];

  constructor(folder: AccountFolder) {
    this.#folder = folder;
  }

  async makeFolders(paths: readonly string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += CALLS_AT_ONCE)
      await this.#folder.makeFolders(paths.slice(at, at + CALLS_AT_ONCE), FOLDER_MODE);
  }

  async begin(paths: readonly string[]): Promise<void> {
    const fds = await this.#folder.newFiles(paths, FILE_MODE);
    paths.forEach((path, at) => this.#begun.set(path, fds[at] ?? -1));
  }

  open(path: string, executable: boolean): number {
    const fd = this.#begun.get(path);
    if (fd === undefined) throw new Error(`the file ${path} was not begun`);
    this.#begun.delete(path);
    if (executable) this.#programs.push(path);
    return fd;
  }

  async end(): Promise<void> {
    const programs = this.#programs;
    this.#programs = [];
    if (programs.length > 0) await this.#folder.setModes(programs, PROGRAM_MODE);
  }

  makeLink(path: string, target: string): Promise<void> {
    return this.#folder.makeLink(path, target);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#begun.values()].map((fd) => close(fd)));
    await this.#folder[Symbol.asyncDispose]();
  }
}
