/** What machines are made from, kept below the cache of the user: a Debian each, and what npm has fetched. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { aptOptions, debianMirror } from './host.ts';
import { runOrThrow } from './run.ts';
import { type Base, BASES, type BaseName } from './table.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
export const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatehouse', 'machines');
export const LOGS = join(CACHE, 'logs');
const LOG = join(LOGS, 'cache.log');

/** An older one is made again, because Debian replaces packages. */
const AGE_MAX_MS = 30 * 24 * 60 * 60_000;
/** With Debian's nodejs and npm, hundreds of small packages, it takes two minutes on two cores. */
const DEBIAN_LIMIT_MS = 20 * 60_000;
/** npm fetches half a GB. */
const NPM_LIMIT_MS = 15 * 60_000;
const COPY_LIMIT_MS = 5 * 60_000;

/** The folders of this project that npm installs packages for: itself, and OpenTofu for its tests. */
const NPM_FOLDERS = ['.', 'test/tools'];
const NPM_FILES = ['package.json', 'package-lock.json', '.npmrc'];

/** The archive of a Debian, which is made unless there is one that is not too old. */
export async function baseArchive(name: BaseName): Promise<string> {
  const base: Base = BASES[name];
  const file = join(CACHE, `${name}-${digest(JSON.stringify(base))}.tar`);
  if (existsSync(file) && Date.now() - statSync(file).mtimeMs < AGE_MAX_MS) return file;
  return makeAtOnce(file, async (scratch) => {
    const root = join(scratch, 'root');
    const include = base.debianPackages.length === 0 ? [] : [`--include=${base.debianPackages.join(',')}`];
    const options = aptOptions().map((each) => `--aptopt=${each}`);
    const mirror = debianMirror() ?? [];
    const words = ['--mode=root', '--variant=minbase', '--format=directory', ...include, ...options];
    await runOrThrow(['mmdebstrap', ...words, base.suite, root, mirror].flat(), LOG, DEBIAN_LIMIT_MS);
    if (base.npmPackages !== null) {
      const { node, npm } = base.npmPackages;
      const packages = [`node-linux-${process.arch}@${node}`, `npm@${npm}`];
      const install = ['npm', 'install', '--global', '--ignore-scripts', '--prefix', join(root, 'usr/local')];
      await runOrThrow([...install, ...packages], LOG, NPM_LIMIT_MS);
    }
    const made = join(scratch, 'made');
    await runOrThrow(['tar', '--numeric-owner', '-cf', made, '-C', root, '.'], LOG, COPY_LIMIT_MS);
    return made;
  });
}

/** A cache of npm with all that the lock files name, so that each machine needs not fetch it. */
export async function npmCache(): Promise<string> {
  const locks = NPM_FOLDERS.map((folder) => readFileSync(join(ROOT, folder, 'package-lock.json'), 'utf8'));
  const folder = join(CACHE, `npm-${digest(locks.join('\n'))}`);
  if (existsSync(folder)) return folder;
  return makeAtOnce(folder, async (scratch) => {
    const made = join(scratch, 'made');
    for (const folder of NPM_FOLDERS) {
      const copy = join(scratch, 'project', folder);
      for (const file of NPM_FILES.filter((each) => existsSync(join(ROOT, folder, each))))
        cpSync(join(ROOT, folder, file), join(copy, file));
      const words = ['npm', 'ci', '--ignore-scripts', '--no-progress', '--cache', made, '--prefix', copy];
      await runOrThrow(words, LOG, NPM_LIMIT_MS);
    }
    return made;
  });
}

/** With a rename, so that an interrupted run leaves no half of it at the path. */
async function makeAtOnce(path: string, make: (scratch: string) => Promise<string>): Promise<string> {
  const scratch = `${path}.part`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    const made = await make(scratch);
    rmSync(path, { recursive: true, force: true });
    renameSync(made, path);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return path;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
