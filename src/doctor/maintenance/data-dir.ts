import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DATA_DIR_ENTRIES, isOpenToOthers, isOurs, modeText } from '../../config/data-dir.ts';
import { fail, type Facts, type Finding, named, ok, warn } from '../entry.ts';
import { codeOf, plainReason } from '../reason.ts';

/** The number of entries that are checked and of findings that are named; the directory holds about a dozen. */
const ENTRIES_MAX = 200;
const NAMED_MAX = 10;

/**
 * Checks that the data directory and its entries exist, are ours and are closed to other users.
 *
 * The files are never opened: closing any descriptor of a file drops all POSIX locks of this process on it, SQLite's
 * too, and another process could then remove the write-ahead log of a running daemon.
 */
export async function examineDataDir({ paths }: Facts): Promise<Finding> {
  let names: string[];
  try {
    const stats = await stat(paths.dir);
    if (!stats.isDirectory()) return fail('The data directory is not a directory.');
    if (!isOurs(stats))
      return fail(`The data directory belongs to user ${stats.uid}, not to the user of this process.`);
    names = (await readdir(paths.dir)).toSorted();
    const faults = isOpenToOthers(stats.mode)
      ? [`the directory itself has mode ${modeText(stats.mode)}, expected 0700`]
      : [];
    faults.push(...(await lookInto(paths.dir, names.slice(0, ENTRIES_MAX))));
    faults.push(...missingFolders(names));
    if (faults.length === 0) return ok(`Present, closed to other users; ${names.length} entries.`);
    return warn(`Present, but ${named(faults, NAMED_MAX)}.`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail('The data directory does not exist.');
    return fail(`The data directory cannot be read: ${plainReason(error)}.`);
  }
}

async function lookInto(dir: string, names: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const name of names) {
    const stats = await lstat(join(dir, name)).catch((error: unknown) => {
      // A temporary file or a log of SQLite may be removed after the listing.
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    // The mode of a link has no meaning.
    if (stats === null || stats.isSymbolicLink()) continue;
    if (!isOurs(stats)) faults.push(`${name} belongs to user ${stats.uid}`);
    else if (isOpenToOthers(stats.mode)) {
      faults.push(`${name} has mode ${modeText(stats.mode)}, expected ${stats.isDirectory() ? '0700' : '0600'}`);
    }
  }
  return faults;
}

function missingFolders(names: readonly string[]): string[] {
  return Object.values(DATA_DIR_ENTRIES)
    .filter((entry) => entry.kind === 'directory' && !names.includes(entry.name))
    .map((entry) => `${entry.name} is missing`);
}
