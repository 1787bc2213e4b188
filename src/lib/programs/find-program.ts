import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Opening, openingOf } from '../files/closed.ts';
import { foldersOf } from './search-path.ts';

/** The first executable file of that name in a folder of `path` that other accounts cannot change, nor the file. */
export async function findProgram(name: string, path: string): Promise<string | null> {
  for (const folder of foldersOf(path)) {
    const candidate = join(folder, name);
    if ((await isProgram(candidate)) && openingOf(folder) === null && openingOf(candidate) === null) return candidate;
  }
  return null;
}

/** Programs of these names in closed folders that are left out: others can change the file, or the target of a link. */
export async function openPrograms(names: readonly string[], path: string): Promise<Opening[]> {
  const found: Opening[] = [];
  for (const folder of foldersOf(path)) {
    if (openingOf(folder) !== null) continue;
    for (const candidate of names.map((name) => join(folder, name)))
      if (await isProgram(candidate)) found.push(...[openingOf(candidate)].filter((opening) => opening !== null));
  }
  return found;
}

/** Whether it is a file that may be executed. */
async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
