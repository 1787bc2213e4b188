/** A copy of this clone for the demo: the sources, and the packages that the program needs. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PARTS = ['bin', 'migrations', 'scripts', 'src', 'test/support', 'package.json', 'package-lock.json', '.npmrc'];
/** Written by npm last; setup takes the packages for installed by it. */
const INSTALLED = 'node_modules/.package-lock.json';
const BIN = 'node_modules/.bin';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Makes the folder. Every account can read the copy, whatever the modes of this clone are. */
export function copyClone(folder: string): void {
  const lock = JSON.parse(readFileSync(join(ROOT, INSTALLED), 'utf8')) as Lock;
  const needed = Object.entries(lock.packages).filter(
    ([path, { dev }]) => dev !== true && existsSync(join(ROOT, path)),
  );
  mkdirSync(folder, { recursive: true });
  for (const part of [...PARTS, ...needed.map(([path]) => path)])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, INSTALLED), JSON.stringify({ ...lock, packages: Object.fromEntries(needed) }, null, 2));
  cpSync(join(ROOT, BIN), join(folder, BIN), { recursive: true, verbatimSymlinks: true });
  const node = join(folder, BIN, 'node');
  if (!existsSync(node)) symlinkSync(process.execPath, node);
  execFileSync('chmod', ['-R', 'a+rX', folder]);
}
