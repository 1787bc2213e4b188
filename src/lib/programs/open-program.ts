import { existsSync } from 'node:fs';
import { type Opening, openingForRoot } from '../files/closed.ts';

/** Where a program may be, for a start with the rights of this process: by paths of which the first that fits is it. */

/** Those that root may start: other accounts cannot change them. All of them where this process is not root. */
export function closedPrograms(paths: readonly string[], cwd: string): string[] {
  return paths.filter((path) => openingForRoot(absolute(path, cwd)) === null);
}

/** What lets others change the program; null where there is another one that root may start, or none at all. */
export function openingOfProgram(paths: readonly string[], cwd: string): Opening | null {
  if (closedPrograms(paths, cwd).some((path) => existsSync(absolute(path, cwd)))) return null;
  return paths.flatMap((path) => openingForRoot(absolute(path, cwd)) ?? [])[0] ?? null;
}

function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}
