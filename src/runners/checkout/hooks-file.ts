import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listRunFolder } from '../run-files/run-files.ts';
import { folded } from './tree-names.ts';

/** What a source calls the file of its lifecycle hooks. */
const NAMES: readonly string[] = ['gatehouse.hooks.yaml', 'gatehouse.hooks.yml'];
/** The limit of a file that is only shown: hand-written files are smaller. */
const READ_BYTES_MAX = 64 * 1024;
const SHOWN_MAX = 100;
const KEY =
  /^(?:"(?<double>[^"\\]{1,100})"|'(?<single>[^']{1,100})'|(?<plain>[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}))\s*:(?:\s|$)/;

/**
 * The lifecycle hooks file at the root of a tree, as it is spelt there; null without one. Any entry of that name
 * counts, in any letter case, also a link and what was one: a source that declares hooks is refused, and who hides them
 * is too. Rejects when the tree can't be read. To be asked of the very files that will run.
 */
export async function findHooksFile(tree: string): Promise<string | null> {
  return hooksFileAmong(await readdir(tree));
}

function hooksFileAmong(names: readonly string[]): string | null {
  return names.toSorted().find((name) => NAMES.includes(folded(name))) ?? null;
}

/** Rejects with an Error, for the output of a job, where the tree at this path of a run declares hooks. */
export async function refuseHooks(runDir: string, tree: string): Promise<void> {
  const file = hooksFileAmong(await listRunFolder(runDir, tree));
  if (file !== null)
    throw new Error(
      `The source declares lifecycle hooks (${file}), which are not run here: a run without them is refused.`,
    );
}

/**
 * The names of the hooks in that file: its keys at the beginning of a line. None where it is no plain file. Nothing
 * here runs them, so a line is looked at as text and the rest of YAML is left alone.
 */
export async function readHookNames(tree: string, file: string): Promise<readonly string[]> {
  const text = await readStart(join(tree, file));
  const names = text.split(/\r?\n/).flatMap((line) => {
    const groups = KEY.exec(line)?.groups;
    const name = groups?.['double'] ?? groups?.['single'] ?? groups?.['plain'];
    return name === undefined || /\p{C}/u.test(name) ? [] : [name];
  });
  return [...new Set(names)].slice(0, SHOWN_MAX);
}

async function readStart(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return '';
  try {
    if (!(await file.stat()).isFile()) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES_MAX), 0, READ_BYTES_MAX, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
