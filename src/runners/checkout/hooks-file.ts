import { constants } from 'node:fs';
import type { Tree } from '../../domain/sources/directory.ts';
import type { Folder } from '../run-files/folder.ts';
import { listRunFolder, namesIn } from '../run-files/run-files.ts';
import { openTree } from './open-tree.ts';
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
export async function findHooksFile(tree: Tree): Promise<string | null> {
  await using folder = await openTree(tree);
  return hooksFileAmong(await namesIn(folder, isHooksFile));
}

function isHooksFile(name: string): boolean {
  return NAMES.includes(folded(name));
}

function hooksFileAmong(names: readonly string[]): string | null {
  return names.filter(isHooksFile).toSorted()[0] ?? null;
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
export async function readHookNames(tree: Tree, file: string): Promise<readonly string[]> {
  await using folder = await openTree(tree);
  const text = await readStart(folder, file);
  const names = text.split(/\r?\n/).flatMap((line) => {
    const groups = KEY.exec(line)?.groups;
    const name = groups?.['double'] ?? groups?.['single'] ?? groups?.['plain'];
    return name === undefined || /\p{C}/u.test(name) ? [] : [name];
  });
  return [...new Set(names)].slice(0, SHOWN_MAX);
}

async function readStart(folder: Folder, name: string): Promise<string> {
  const file = await folder.file(name, constants.O_RDONLY).catch(() => null);
  if (file === null) return '';
  try {
    if (!(await file.stats()).isFile()) return '';
    return (await file.read(READ_BYTES_MAX)).toString('utf8');
  } finally {
    await file[Symbol.asyncDispose]();
  }
}
