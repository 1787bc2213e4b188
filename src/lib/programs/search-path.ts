import { delimiter, isAbsolute } from 'node:path';
import { type Opening, openingOf } from '../files/closed.ts';

/** A C library takes an empty PATH for the current folder. */
const NOWHERE = '/proc/nonexistent';

/** The folders of a PATH. Relative ones are left out: they depend on the current folder. */
export function foldersOf(path: string): string[] {
  return [...new Set(path.split(delimiter).filter(isAbsolute))];
}

/** A PATH without the folders in which other accounts can put a program. Never empty. */
export function closedPath(path: string): string {
  const closed = foldersOf(path).filter((folder) => openingOf(folder) === null);
  return closed.length === 0 ? NOWHERE : closed.join(delimiter);
}

/** What lets other accounts put a program into folders of a PATH, for each of those folders. */
export function openFolders(path: string): Opening[] {
  return foldersOf(path).flatMap((folder) => openingOf(folder) ?? []);
}
