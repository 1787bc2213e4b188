/** A copy of this clone for the demo: the sources, and the packages that the program needs. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PARTS = ['bin', 'migrations', 'scripts', 'src', 'test/support', 'package.json', 'package-lock.json', '.npmrc'];
/** Written by npm last; setup takes the packages for installed by it. */
const INSTALLED = 'node_modules/.package-lock.json';
const NODE = 'node_modules/.bin/node';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Makes the folder. Every account can read the copy, whatever the modes of this clone are. */
export function copyClone(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, INSTALLED), 'utf8')) as Lock;
  const needed = Object.entries(packages).flatMap(([path, { dev }]) => (dev === true ? [] : path));
  mkdirSync(folder, { recursive: true });
  for (const part of [...PARTS, ...needed.filter((path) => existsSync(join(ROOT, path))), INSTALLED])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  const bin = needed.find((path) => existsSync(join(ROOT, path, 'bin', 'node')));
  mkdirSync(dirname(join(folder, NODE)), { recursive: true });
  symlinkSync(bin === undefined ? process.execPath : join('..', '..', bin, 'bin', 'node'), join(folder, NODE));
  execFileSync('chmod', ['-R', 'a+rX', folder]);
}
