import { createHash } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramFiles } from '../../domain/program.ts';
import { errorCode } from '../../lib/error-code.ts';

/**
 * What a program is on disk: one digest of all files that a start of it reads. Files of a program that another account
 * could change are refused, because a restart would run them with the rights of the daemon.
 */

/** A program that must not be started, with the reason for people. */
export class UnusableProgram extends Error {}

/** More than a checkout with its packages has. */
const FILES_MAX = 50_000;
const READ_BYTES = 1024 * 1024;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const ROOT_UID = 0;

/** Beside the code. */
const PARTS = ['package.json', 'bin', 'migrations'];
/** Of a folder of code: no test belongs to the program. */
const NO_CODE = /\.test\.ts$/;

/** The SHA-256 of the program, in hexadecimal. Takes about a second, so it is called in a thread. */
export function programDigest(program: ProgramFiles): string {
  const walk = new Walk(program.uid);
  try {
    const root = realpathSync(program.root);
    walk.above(root);
    for (const part of [...PARTS.map((name) => join(root, name)), dirname(realpathSync(program.main))]) walk.add(part);
    // A bundle holds its packages.
    if (program.main.endsWith('.ts')) for (const folder of packagesOf(root)) walk.add(folder);
    const executable = realpathSync(program.executable);
    walk.above(executable);
    walk.add(executable);
  } catch (error) {
    if (error instanceof UnusableProgram) throw error;
    const path = error instanceof Error && 'path' in error ? ` ${String(error.path)}` : '';
    throw new UnusableProgram(`the program cannot be read: ${errorCode(error) ?? 'unknown error'}${path}`);
  }
  return walk.digest();
}

class Walk {
  readonly #owners: readonly number[];
  readonly #lines: string[] = [];
  readonly #seen = new Set<string>();
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES);

  constructor(uid: number) {
    this.#owners = [ROOT_UID, uid];
  }

  digest(): string {
    return createHash('sha256').update(this.#lines.join('')).digest('hex');
  }

  /** A user who may rename a folder on the path of a file may replace the file. */
  above(path: string): void {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const stats = lstatSync(folder);
      // In a folder such as /tmp only the owner of a file can rename it.
      if ((stats.mode & STICKY) === 0) this.#check(folder, stats);
      if (dirname(folder) === folder) return;
    }
  }

  add(given: string): void {
    const path = realpathSync(given);
    if (path !== given) this.above(path);
    if (this.#seen.has(path)) return;
    this.#seen.add(path);
    if (this.#seen.size > FILES_MAX) throw new UnusableProgram(`the program has more than ${FILES_MAX} files`);
    const stats = lstatSync(path);
    this.#check(path, stats);
    if (stats.isDirectory()) {
      for (const name of readdirSync(path).toSorted()) if (!NO_CODE.test(name)) this.add(join(path, name));
    } else if (stats.isFile()) this.#lines.push(`${given}\0${this.#fileDigest(path)}\n`);
  }

  #check(path: string, { mode, uid }: Stats): void {
    if ((mode & WRITABLE_BY_OTHERS) !== 0)
      throw new UnusableProgram(`${path} can be written by its group or by everyone; run: chmod go-w ${path}`);
    if (!this.#owners.includes(uid))
      throw new UnusableProgram(
        `${path} belongs to the user ${uid}, and not to root or to the account of the daemon, who may change it`,
      );
  }

  #fileDigest(path: string): string {
    const hash = createHash('sha256');
    const fd = openSync(path, 'r');
    try {
      for (;;) {
        const length = readSync(fd, this.#buffer, 0, READ_BYTES, null);
        if (length === 0) return hash.digest('hex');
        hash.update(this.#buffer.subarray(0, length));
      }
    } finally {
      closeSync(fd);
    }
  }
}

interface PackageFacts {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The folders of the packages that the program needs at run time, as Node finds them. */
function packagesOf(root: string): string[] {
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFacts;
    for (const name of Object.keys({ ...facts.dependencies, ...facts.optionalDependencies })) {
      const each = installed(folder, name);
      if (each === null || found.has(each)) continue;
      found.add(each);
      visit(each);
    }
  };
  visit(root);
  return [...found].toSorted();
}

/** Null for an optional one that is not installed. */
function installed(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return null;
  }
}
